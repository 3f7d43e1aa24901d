"""What a person or a machine is told: text, tables and JSON. Text from files is never read as markup."""
