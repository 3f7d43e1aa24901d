-- Counts on the road traffic fines, written by hand and sharing nothing with the program.
-- DuckDB, run in the folder that holds the log.
--
-- The rule: after Create Fine the fine must be paid within 60 days, by any Payment row of the case. The log keeps
-- dates only, so dates are compared: a payment on the day of the fine and one on the 60th day after it are both in
-- time. A fine is pending while its 60th day lies after the last day of the log.

CREATE TEMP TABLE fines AS
SELECT case_id, activity, timestamp::DATE AS day
FROM read_csv('traffic_fines.csv.gz', header = true, all_varchar = true);

-- One row per case. (min(day) would be the first payment; in_time asks for any payment within the 60 days.)
CREATE TEMP TABLE judged AS
WITH created AS (SELECT case_id, min(day) AS day FROM fines WHERE activity = 'Create Fine' GROUP BY case_id),
     log_end AS (SELECT max(day) AS day FROM fines),
     paid AS (
         SELECT created.case_id,
                count(*) AS payments,
                count(*) FILTER (WHERE fines.day BETWEEN created.day AND created.day + 60) AS payments_in_time,
                count(*) FILTER (WHERE fines.day > created.day + 60) AS payments_late,
                count(*) FILTER (WHERE fines.day = created.day) AS payments_same_day
         FROM created JOIN fines ON fines.case_id = created.case_id AND fines.activity = 'Payment'
         GROUP BY created.case_id
     )
SELECT created.case_id, paid.payments, paid.payments_same_day,
       CASE WHEN paid.payments_in_time > 0 THEN 'paid in time'
            WHEN created.day + 60 > log_end.day THEN 'pending'
            WHEN paid.payments_late > 0 THEN 'paid late'
            ELSE 'unpaid, 60 days over'
       END AS outcome
FROM created CROSS JOIN log_end LEFT JOIN paid ON paid.case_id = created.case_id;

SELECT * FROM (
    SELECT 1 AS line, 'rows' AS what, count(*) AS n FROM fines
    UNION ALL SELECT 2, 'cases', count(DISTINCT case_id) FROM fines
    UNION ALL SELECT 3, 'fines created', count(*) FROM fines WHERE activity = 'Create Fine'
    UNION ALL SELECT 4, 'paid in time', count(*) FROM judged WHERE outcome = 'paid in time'
    UNION ALL SELECT 5, 'paid late', count(*) FROM judged WHERE outcome = 'paid late'
    UNION ALL SELECT 6, 'unpaid, 60 days over', count(*) FROM judged WHERE outcome = 'unpaid, 60 days over'
    UNION ALL SELECT 7, 'pending', count(*) FROM judged WHERE outcome = 'pending'
    UNION ALL SELECT 8, 'payers', count(*) FROM judged WHERE payments > 0
    UNION ALL SELECT 10, 'not paid in time, appeal on record before the 60th day', count(DISTINCT judged.case_id)
        FROM judged
        JOIN fines AS created ON created.case_id = judged.case_id AND created.activity = 'Create Fine'
        JOIN fines AS appeal ON appeal.case_id = judged.case_id AND appeal.activity = 'Insert Date Appeal to Prefecture'
        WHERE judged.outcome <> 'paid in time' AND appeal.day < created.day + 60
    UNION ALL SELECT 9, 'payers who paid on the day of the fine', count(*) FROM judged WHERE payments_same_day > 0
)
ORDER BY line;
