-- The columns of the tables in a PostgreSQL schema: table, column, type, whether it is part of the primary key; a row
-- 'more than columns' for a table with triggers, rules or other things that a store does not make.
WITH t AS (SELECT * FROM pg_catalog.pg_class WHERE relnamespace = pg_catalog.current_schema()::pg_catalog.regnamespace)
SELECT t.relname::text, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod), p.indrelid IS NOT NULL
FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_catalog.pg_index p ON p.indrelid = t.oid AND p.indisprimary AND a.attnum = ANY (p.indkey)
WHERE t.relkind = 'r'
UNION ALL SELECT t.relname::text, 'more than columns', '', NULL FROM t
WHERE t.relkind IN ('v', 'm', 'f', 'p') OR t.relkind = 'r' AND (
  t.relrowsecurity OR t.relhassubclass OR t.relhasrules
  OR EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid = t.oid)
  OR EXISTS (SELECT FROM pg_catalog.pg_attrdef d WHERE d.adrelid = t.oid)
  OR EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.conrelid = t.oid AND c.contype NOT IN ('p', 'u', 'n'))
  OR EXISTS (
    SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = t.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
  )
)
