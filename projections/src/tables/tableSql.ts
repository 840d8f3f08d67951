// The SQL of a projection's table and view, from the description of its columns.
import type { Column } from '../columns.ts'
import type { Projection } from '../projection.ts'

/**
 * Creates a table with its primary key; other indexes follow when it is filled. Most rows change a few times after their
 * creation: free space in the pages allows updates without index writes.
 */
export function createTableSql({ columns }: Projection, table: string): string {
  const definitions = Object.entries(columns).map(([name, column]) => `${name} ${typeSql(column)}`)
  return `create table ${table} (id uuid primary key, revision bigint not null, ${definitions.join(', ')})
    with (fillfactor = 85)`
}

function typeSql({ type, isNullable, collation }: Column): string {
  return [
    type,
    ...(collation === undefined ? [] : [`collate "${collation}"`]),
    ...(isNullable ? [] : ['not null']),
  ].join(' ')
}

/** The query of the view. */
export function viewSql({ columns, computed }: Projection, table: string): string {
  const expressions = Object.entries(computed).map(([name, { sql }]) => `${sql} as ${name}`)
  return `select ${['id', 'revision', ...Object.keys(columns), ...expressions].join(', ')} from ${table}`
}
