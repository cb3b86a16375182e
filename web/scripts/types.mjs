// schemas/openapi.json → src/api/schema.ts: one type per schema, one list per enumeration.
//   node scripts/types.mjs          writes it
//   node scripts/types.mjs --check  fails if it is not what the contract says
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const target = join(here, '../src/api/schema.ts');
const { components } = JSON.parse(readFileSync(join(here, '../../schemas/openapi.json'), 'utf8'));

const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const listName = (name) => `${name[0].toLowerCase()}${name.slice(1)}Words`;

function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.const !== undefined) return typeof schema.const === 'string' ? quoted(schema.const) : String(schema.const);
  if (schema.enum) return schema.enum.map(quoted).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'array': {
      const item = typeOf(schema.items);
      return item.includes('|') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      if (typeof schema.additionalProperties === 'object') return `Partial<Record<string, ${typeOf(schema.additionalProperties)}>>`;
      if (schema.properties) return `{\n${fields(schema, '    ')}\n  }`;
      return 'Record<string, unknown>';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    default:
      return 'string';
  }
}

function fields(schema, indent) {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties)
    .map(([key, value]) => {
      const note = value.description && !value.$ref ? ` // ${value.description}` : '';
      return `${indent}${key}${required.has(key) ? '' : '?'}: ${typeOf(value)};${note}`;
    })
    .join('\n');
}

function declaration([name, schema]) {
  if (schema.enum) {
    return `export const ${listName(name)} = [${schema.enum.map(quoted).join(', ')}] as const;\nexport type ${name} = (typeof ${listName(name)})[number];`;
  }
  if (schema.type === 'object' && schema.properties) return `export interface ${name} {\n${fields(schema, '  ')}\n}`;
  return `export type ${name} = ${typeOf(schema)};`;
}

const text = `// Made by scripts/types.mjs from schemas/openapi.json.\n\n${Object.entries(components.schemas).map(declaration).join('\n\n')}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/api/schema.ts is not what schemas/openapi.json says: npm run types');
  process.exit(1);
}
