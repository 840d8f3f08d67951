// The expected rows of the read models, from the domain's folds and without the projections.
import { addressFold } from '@paylog/domain/addresses/address'
import { type DefaultChoiceEvent, defaultChoiceFold } from '@paylog/domain/defaultChoice'
import type { DomainEvent, Fold } from '@paylog/domain/events'
import { paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentFold } from '@paylog/domain/payments/fold'
import { productFold } from '@paylog/domain/products/product'
import type { Pool } from 'pg'
import { storedText } from '../apply/writers.ts'
import type { Value } from '../columns.ts'
import type { ProjectedEvent, Projection } from '../projection.ts'

type State = object & { readonly status: string }
type AnyFold = Fold<State, DomainEvent>

/** The row of a list, since its fold has no object as its state. */
const rowOfDefaults: Fold<State, DefaultChoiceEvent> = {
  initialState: { status: 'none' },
  evolve: (_row, event) =>
    ({ status: 'kept', list: event.data.list, chosen_id: defaultChoiceFold.evolve(null, event) }) as State,
}

/** The fold of each stream category. */
const folds: Readonly<Record<string, AnyFold>> = {
  payments: paymentFold as AnyFold,
  payment_methods: paymentMethodFold as AnyFold,
  addresses: addressFold as AnyFold,
  defaults: rowOfDefaults as AnyFold,
  products: productFold as AnyFold,
}

/** The id, revision and shared columns of each row. */
export type Rows = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** The expected rows of these events. */
export function foldedRows(projection: Projection, events: readonly ProjectedEvent[]): Rows {
  const { initialState, evolve } = foldOf(projection)
  const states = new Map<string, { state: State; revision: bigint }>()
  for (const event of events) {
    const id = projection.changeOf(event)?.id
    if (id === undefined) continue
    states.set(id, { state: evolve(states.get(id)?.state ?? initialState, event), revision: event.revision })
  }
  return new Map(
    [...states].map(([id, { state, revision }]) => {
      const known = Object.entries(projection.columns).filter(([name]) => name in state)
      const values = known.map(([name, { type }]) => [name, comparable(type, Reflect.get(state, name))])
      return [id, { ...Object.fromEntries(values), revision: String(revision), is_removed: state.status === 'removed' }]
    }),
  )
}

/** The actual rows, limited to the columns that folds have. */
export async function tableRows(db: Pick<Pool, 'query'>, projection: Projection, table: string): Promise<Rows> {
  const names = Object.entries(projection.columns)
  const columns = names.map(([name, { type }]) =>
    type === 'timestamptz' ? `to_json(${name})#>>'{}' as ${name}` : `${name}::text`,
  )
  const { rows } = await db.query<Record<string, string | null>>(
    `select id::text, revision::text, ${columns.join(', ')} from read_models.${table}`,
  )
  return new Map(
    rows.map(({ id, revision, is_removed, ...row }) => {
      const values = names.flatMap(([name, { type }]) =>
        name in row ? [[name, fromTable(type, row[name] ?? null)]] : [],
      )
      return [id ?? '', { ...Object.fromEntries(values), revision, is_removed: is_removed === 'true' }]
    }),
  )
}

/** Describes the first difference, comparing only shared columns. */
export function differenceOf(found: Rows, expected: Rows): string | undefined {
  if (found.size !== expected.size) return `${found.size} rows instead of ${expected.size}`
  for (const [id, row] of expected) {
    for (const [name, value] of Object.entries(row)) {
      const other = found.get(id)?.[name]
      if (other !== value) return `${id} has ${JSON.stringify(other)} instead of ${JSON.stringify(value)} as ${name}`
    }
  }
  return undefined
}

function foldOf({ name }: Projection): AnyFold {
  const fold = folds[name]
  if (fold === undefined) throw new Error(`No fold for ${name}`)
  return fold
}

function comparable(type: string, value: Value): string | null {
  const stored = storedText(type, value)
  if (stored === null) return null
  return type === 'timestamptz' ? String(Date.parse(String(stored))) : wellFormed(String(stored))
}

/** Replaces unpaired surrogates, which have no encoding. */
const wellFormed = (text: string) => text.toWellFormed()

function fromTable(type: string, text: string | null): string | null {
  return text !== null && type === 'timestamptz' ? String(Date.parse(text)) : text
}
