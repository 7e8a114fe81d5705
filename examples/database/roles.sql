-- The two roles of the catalog, and the schema of its tables. For psql, once, as a superuser: it reads the
-- passwords from the environment.

\getenv reader_password READER_PASSWORD
\getenv writer_password WRITER_PASSWORD

create role customers_reader login password :'reader_password';
create role customers_writer login password :'writer_password';

create schema customers authorization customers_writer;
alter role customers_reader in database :"DBNAME" set search_path = customers;
alter role customers_writer in database :"DBNAME" set search_path = customers;

-- Tables of later migrations too.
grant usage on schema customers to customers_reader;
alter default privileges for role customers_writer in schema customers
  grant select on tables to customers_reader;

-- Also if somebody grants more by mistake.
alter role customers_reader in database :"DBNAME" set default_transaction_read_only = on;
