// The expected rows of the read models, from the domain's folds and without the projections.
import { addressFold } from '@paylog/domain/addresses/address'
import type { AuditTrailEvent } from '@paylog/domain/auditTrail'
import { type DefaultChoiceEvent, defaultChoiceFold } from '@paylog/domain/defaultChoice'
import type { DomainEvent, Fold } from '@paylog/domain/events'
import { paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { disputeStatusOf, receivedOf, refundedOf } from '@paylog/domain/payments/charges'
import { type PaymentEvent, paymentEvents } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import type { Payment, PaymentState } from '@paylog/domain/payments/payment'
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

/** The row of an action, which happens once. */
const rowOfAction: Fold<State, AuditTrailEvent> = {
  initialState: { status: 'none' },
  evolve(row, { type, data }) {
    if (type === 'AdministratorActionEnded') return { ...row, outcome: data.outcome } as State
    const { target, occurred_at } = data
    const others = { target_kind: target?.kind ?? null, target_id: target?.id ?? null, created_at: occurred_at }
    return { status: 'kept', actor_email: null, ...data, ...others, outcome: 'unknown' } as State
  },
}

/** What the columns show of a payment besides its fields. */
const shownPayment = (payment: Payment) => ({
  ...payment,
  metadata: payment.metadata ?? {},
  amount_received_cents: receivedOf(payment),
  amount_refunded_cents: refundedOf(payment),
  amount_capturable_cents: payment.capturable_cents,
  dispute_status: disputeStatusOf(payment),
  attention: payment.attention.map(({ code, occurred_at, message }) => ({ code, occurred_at, message })),
  has_attention: payment.attention.length > 0,
})

type ExpectedRow = Readonly<Record<string, unknown>>

/** The rows of a payment, by id. */
const ofPayment = (rowsOf: (payment: Payment) => readonly (readonly [string, ExpectedRow])[]) => ({
  fold: paymentFold as AnyFold,
  rowsOf: (id: string, state: State) => {
    const payment = state as PaymentState
    if (payment.status === 'none') return [[id, payment]] as const
    const { payment_id, provider_id, currency } = payment
    return rowsOf(payment).map(([row, values]) => [row, { payment_id, provider_id, currency, ...values }] as const)
  },
})

const oneRow = (fold: AnyFold) => ({ fold, rowsOf: (id: string, state: State) => [[id, { ...state }]] as const })

/** The fold of each stream category, and its rows. */
const folds: Readonly<
  Record<
    string,
    { readonly fold: AnyFold; rowsOf(id: string, state: State): readonly (readonly [string, ExpectedRow])[] }
  >
> = {
  payments: ofPayment((payment) => [[payment.payment_id, shownPayment(payment)]]),
  refunds: ofPayment(({ refunds }) => refunds.map((refund) => [refund.refund_id, refund])),
  disputes: ofPayment(({ disputes }) => disputes.map((dispute) => [dispute.dispute_id, dispute])),
  payment_methods: oneRow(paymentMethodFold as AnyFold),
  addresses: oneRow(addressFold as AnyFold),
  defaults: oneRow(rowOfDefaults as AnyFold),
  products: oneRow(productFold as AnyFold),
  audit_trail: oneRow(rowOfAction as AnyFold),
}

/** The id, revision and shared columns of each row. */
export type Rows = ReadonlyMap<string, Readonly<Record<string, unknown>>>

const shownColumns = ({ columns, computed }: Projection) => Object.entries({ ...columns, ...computed })

/** The expected rows of these events. */
export function foldedRows(projection: Projection, events: readonly ProjectedEvent[]): Rows {
  const { fold, rowsOf } = foldOf(projection)
  const states = new Map<string, State>()
  const revisions = new Map<string, bigint>()
  for (const event of events) {
    const row = projection.changeOf(event)?.id
    // Several projections have rows of payments, some without a row for every event.
    const stream = projection.streamPrefixes.includes('payment-') ? paymentOf(event) : row
    if (stream === undefined) continue
    states.set(stream, fold.evolve(states.get(stream) ?? fold.initialState, event))
    if (row !== undefined) revisions.set(row, event.revision)
  }
  const rows = [...states].flatMap(([stream, state]) => rowsOf(stream, state))
  return new Map(
    rows.map(([id, row]) => {
      const known = shownColumns(projection).filter(([name]) => name in row)
      const values = known.map(([name, { type }]) => [name, comparable(type, row[name])])
      const revision = String(revisions.get(id))
      return [id, { ...Object.fromEntries(values), revision, is_removed: row.status === 'removed' }]
    }),
  )
}

function paymentOf(event: ProjectedEvent): string | undefined {
  const isPayment = (other: ProjectedEvent): other is ProjectedEvent & PaymentEvent =>
    Object.hasOwn(paymentEvents, other.type)
  return isPayment(event) ? event.data.payment_id : undefined
}

/** The actual rows, limited to the columns that folds have. */
export async function tableRows(db: Pick<Pool, 'query'>, projection: Projection, table: string): Promise<Rows> {
  const names = shownColumns(projection)
  const columns = names.map(([name, { type }]) => {
    const value = projection.computed[name]?.sql ?? name
    return type === 'timestamptz' ? `to_json(${value})#>>'{}' as ${name}` : `(${value})::text as ${name}`
  })
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

function foldOf({ name }: Projection) {
  const fold = folds[name]
  if (fold === undefined) throw new Error(`No fold for ${name}`)
  return fold
}

function comparable(type: string, value: unknown): string | null {
  if (type === 'jsonb') return JSON.stringify(value)
  const stored = storedText(type, value as Value)
  if (stored === null) return null
  return type === 'timestamptz' ? String(Date.parse(String(stored))) : wellFormed(String(stored))
}

/** Replaces unpaired surrogates, which have no encoding. */
const wellFormed = (text: string) => text.toWellFormed()

function fromTable(type: string, text: string | null): string | null {
  if (text === null) return null
  if (type === 'jsonb') return JSON.stringify(JSON.parse(text), jsonOrder)
  return type === 'timestamptz' ? String(Date.parse(text)) : text
}

/** Postgres orders the keys of an object by their length. */
const jsonOrder = ['code', 'occurred_at', 'message']
