// A list as CSV: its columns follow from the schema of its items.
import { csvCell, csvLine } from '@paylog/domain/csvCell'
import { currencyExponent, decimalOf } from '@paylog/domain/currency'
import { type TObject, type TSchema, Type } from 'typebox'
import type { TimeZone } from '../timeZones.ts'

type Item = Readonly<Record<string, unknown>>
type Read = (item: Item) => unknown

type Column = {
  readonly name: string
  /** The text of its cell in a line. */
  readonly cell: (item: Item) => string
}

export type CsvTable = {
  /** The line with the names of the columns. */
  readonly header: string
  lineOf(item: object): string
}

/**
 * One column for each field, in their order. Fields of objects have their own columns, such as `source.stream`; arrays, and
 * objects with any fields, are JSON. An amount has two columns: in minor units, and in decimals of its currency, whose name lacks
 * `_cents`. Times have the offset of the zone, which their header names: `created_at (Europe/Berlin)`.
 */
export function csvTable(item: TObject, zone: TimeZone): CsvTable {
  const columns = columnsOf(item, zone, { path: '', objectOf: (row) => row, root: item })
  return {
    header: csvLine(columns.map(({ name }) => csvCell(name))),
    lineOf: (row) => csvLine(columns.map(({ cell }) => cell(row as Item))),
  }
}

type Place = {
  readonly path: string
  /** The object with the fields, of an item. */
  readonly objectOf: Read
  /** The schema of an item. */
  readonly root: TObject
}

function columnsOf({ properties }: TObject, zone: TimeZone, { path, objectOf, root }: Place): readonly Column[] {
  return Object.entries(properties).flatMap(([field, schema]): readonly Column[] => {
    const name = path + field
    const read: Read = (row) => (objectOf(row) as Item | null | undefined)?.[field]
    const type = withoutNull(schema)
    if (Type.IsObject(type)) return columnsOf(type, zone, { path: `${name}.`, objectOf: read, root })
    if (isTime(type)) return [{ name: `${name} (${zone.name})`, cell: (row) => timeCell(read(row), zone) }]
    const own = { name, cell: (row: Item) => cellOf(read(row)) }
    return name.includes('_cents') ? [own, ...decimalsOf(name, read, root)] : [own]
  })
}

function withoutNull(schema: TSchema): TSchema {
  if (!Type.IsUnion(schema)) return schema
  const [type, ...others] = schema.anyOf.filter((each) => !Type.IsNull(each))
  return type !== undefined && others.length === 0 ? type : schema
}

const isTime = (schema: TSchema) => Type.IsString(schema) && 'format' in schema && schema.format === 'date-time'

const timeCell = (value: unknown, zone: TimeZone) => (typeof value === 'string' ? zone.format(value) : '')

/** Numbers stay numbers. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return csvCell(value)
  return typeof value === 'object' ? csvCell(JSON.stringify(value)) : String(value)
}

/** The column of an amount in decimals. One such as `reported_amount_cents` may have its own currency. */
function decimalsOf(name: string, read: Read, { properties }: TObject): readonly Column[] {
  const own = name.endsWith('amount_cents') ? name.replace(/amount_cents$/, 'currency') : 'currency'
  const currency = [own, 'currency'].find((each) => Object.hasOwn(properties, each))
  if (currency === undefined) return []
  const cell = (row: Item) => decimalCell(read(row), row[currency])
  return [{ name: name.replace('_cents', ''), cell }]
}

function decimalCell(units: unknown, currency: unknown): string {
  if ((typeof units !== 'number' && typeof units !== 'bigint') || typeof currency !== 'string') return ''
  return decimalOf(units, currencyExponent(currency))
}
