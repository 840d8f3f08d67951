// Compares two tables of a projection row by row.
import type { ClientBase } from 'pg'
import type { Projection } from '../projection.ts'
import { tableName } from './tables.ts'

/** A differing row; `columns` are the differing columns with the values of both tables. */
export type RowDifference =
  | { readonly id: string; readonly kind: 'missing' | 'extra' }
  | { readonly id: string; readonly kind: 'different'; readonly columns: readonly ColumnDifference[] }

/** Of what is sealed in the log only whether there is a value: reports are kept longer than persons. */
export type ColumnDifference = { readonly column: string; readonly found: unknown; readonly expected: unknown }

/** The number of rows and a hash of their content, independent of their order. */
export type TableSum = { readonly rows: number; readonly hash: string }

const fetchedAtOnce = 500

/** @param client determines the snapshot */
export async function sumOf(client: ClientBase, projection: Projection, version: number): Promise<TableSum> {
  const { rows } = await client.query<{ rows: string; hash: string | null }>(
    `select count(*)::text as rows, sum(hashtextextended(${rowText(projection, 't')}, 0))::text as hash
     from read_models.${tableName(projection, version)} as t`,
  )
  const [sum] = rows
  return { rows: Number(sum?.rows ?? 0), hash: sum?.hash ?? '0' }
}

/**
 * The rows that differ between two tables, ordered by id.
 * @param client in a transaction, which determines the snapshot
 * @param found version of the table to check
 * @param expected version of the correct table
 */
export async function* differencesOf(
  client: ClientBase,
  projection: Projection,
  { found, expected }: { readonly found: number; readonly expected: number },
): AsyncGenerator<RowDifference> {
  const columns = ['revision', ...Object.keys(projection.columns)]
  const texts = (alias: string) => `array[${columns.map((name) => `${alias}.${name}::text`).join(', ')}]`
  await client.query(
    `declare differing no scroll cursor for
     select id, to_json(f) as found, to_json(e) as expected, ${texts('f')} as found_texts, ${texts('e')} as expected_texts
     from read_models.${tableName(projection, found)} as f
     full join read_models.${tableName(projection, expected)} as e using (id)
     where ${rowText(projection, 'f')} is distinct from ${rowText(projection, 'e')}
     order by id`,
  )
  for (;;) {
    const { rows } = await client.query<DifferingRow>(`fetch ${fetchedAtOnce} from differing`)
    if (rows.length === 0) break
    yield* rows.map((row) => difference(row, columns, projection))
  }
  await client.query('close differing')
}

type DifferingRow = {
  readonly id: string
  readonly found: Readonly<Record<string, unknown>> | null
  readonly expected: Readonly<Record<string, unknown>> | null
  /** The values of the columns, in their order. */
  readonly found_texts: readonly (string | null)[]
  readonly expected_texts: readonly (string | null)[]
}

function difference(row: DifferingRow, columns: readonly string[], projection: Projection): RowDifference {
  const { id, found, expected, found_texts: foundTexts, expected_texts: expectedTexts } = row
  if (found === null) return { id, kind: 'missing' }
  if (expected === null) return { id, kind: 'extra' }
  const differing = columns.flatMap((column, index): ColumnDifference[] => {
    const texts = { column, found: foundTexts[index], expected: expectedTexts[index] }
    if (texts.found === texts.expected) return []
    if (projection.columns[column]?.sealed)
      return [{ column, found: redacted(texts.found), expected: redacted(texts.expected) }]
    // Values that are equal in JavaScript (large numbers, JSON notations) are shown as text.
    const looksSame = JSON.stringify(found[column]) === JSON.stringify(expected[column])
    return [looksSame ? texts : { column, found: found[column], expected: expected[column] }]
  })
  return { id, kind: 'different', columns: differing }
}

const redacted = (value: unknown) => (value === null ? null : '[redacted]')

/** SQL for a whole row as text; null for a missing row. */
function rowText({ columns }: Projection, alias: string): string {
  const names = ['id', 'revision', ...Object.keys(columns)].map((name) => `${alias}.${name}`)
  return `case when ${alias}.id is not null then row(${names.join(', ')})::text end`
}
