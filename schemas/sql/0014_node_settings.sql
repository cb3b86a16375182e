-- What an administrator has set of a node, and what its agent says instead: its group, zone, leaf and
-- labels. The columns of these names, and `facts`, are what holds of both.
ALTER TABLE node ADD COLUMN told json NOT NULL DEFAULT '{}';
ALTER TABLE node ADD COLUMN set json NOT NULL DEFAULT '{}';
