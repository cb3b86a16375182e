-- What is known of a node's health beyond the moment (docs/design/0007), as one value; and its failing checks as rows to ask.
ALTER TABLE node ADD COLUMN health json NOT NULL DEFAULT '{}';
DROP TABLE node_check;
CREATE VIEW node_check AS
  SELECT node.id AS node, node.name AS node_name, c -> 'result' ->> 'name' AS name,
         c -> 'result' ->> 'subject' AS subject, c -> 'result' ->> 'verdict' AS verdict,
         c -> 'result' ->> 'tier' AS tier, c -> 'result' ->> 'summary' AS summary,
         (c -> 'result' ->> 'at')::timestamptz AS since, c ->> 'done' AS done
    FROM node, json_array_elements(node.health -> 'checks') AS c;
