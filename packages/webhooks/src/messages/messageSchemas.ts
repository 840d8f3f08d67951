// The JSON bodies of webhooks as schemas, for the API document. Chat services get their own layouts instead.

import { Nullable } from '@paylog/domain/fields'
import { AttentionCode, DisputeStatus, Payer, RefundReason, RefundStatus } from '@paylog/domain/payments/events'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { type CanonicalName, canonicalNames } from './canonicalNames.ts'

const Text = Nullable(Type.String())
const Amount = (description: string) => Nullable(Type.Integer({ description: `${description}, in minor units` }))
const Time = Type.String({ format: 'date-time', description: 'When it happened' })

const facts = {
  payment_id: Nullable(Type.String({ description: "Paylog's id; of a foreign payment or invoice, the provider's" })),
  amount: Amount('The total of the payment'),
  currency: Nullable(Type.String({ description: 'ISO 4217 code in upper case' })),
  status: Nullable(Type.String({ description: 'Of the payment or subscription, after the event' })),
  user: Type.With(Payer, { title: 'WebhookUser' }),
  project: Type.Object({ id: Type.String() }),
  subscription_id: Type.Optional(Text),
  customer_id: Type.Optional(Text),
  current_period_end: Type.Optional(Type.String({ format: 'date-time' })),
}

/** Set only when the provider reported it in another currency than the payment's. */
const reportedInOtherCurrency = {
  reported_amount_cents: Type.Optional(Amount('What the provider reported, if the amount is null')),
  reported_currency: Type.Optional(Type.String({ description: 'The other currency' })),
}

/** `data.refund` of payment.refunded. The id is ours, like that of a dispute. */
export const RefundFacts = Type.Object(
  {
    id: Type.String(),
    amount: Amount('The refund'),
    status: RefundStatus,
    reason: RefundReason,
    ...reportedInOtherCurrency,
  },
  { title: 'WebhookRefund' },
)
export type RefundFacts = Static<typeof RefundFacts>

/** `data.dispute` of payment.disputed. */
export const DisputeFacts = Type.Object(
  {
    id: Type.String(),
    amount: Amount('What is disputed'),
    status: DisputeStatus,
    reason: Nullable(Type.String({ description: "The provider's word" })),
    evidence_due_by: Nullable(Type.String({ description: 'ISO 8601' })),
    ...reportedInOtherCurrency,
  },
  { title: 'WebhookDispute' },
)
export type DisputeFacts = Static<typeof DisputeFacts>

/** `data.attention` of payment.attention. */
export const AttentionFacts = Type.Object(
  { code: AttentionCode, message: Type.String({ description: 'For humans; may change' }) },
  { title: 'WebhookAttention' },
)
export type AttentionFacts = Static<typeof AttentionFacts>

/** What `data` has beside the facts. */
const moreData: { readonly [Name in CanonicalName]?: TProperties } = {
  'payment.refunded': { refund: RefundFacts },
  'payment.disputed': { dispute: DisputeFacts },
  'payment.attention': { attention: AttentionFacts },
}

const test = Type.Optional(
  Type.Literal(true, { description: 'A test or a simulation, which any signed-in user may send: ignore it' }),
)

/** `payment.succeeded` as `PaymentSucceeded`. */
const pascalCase = (name: string) => name.replace(/(?:^|\.)(\w)/g, (_match, first: string) => first.toUpperCase())

/** @param event the schema of its name */
const message = (title: string, event: TSchema, data: TSchema) => ({
  title,
  schema: Type.Object({ event, provider: Type.String(), timestamp: Time, data, test }, { title }),
})

const { subscription_id: _subscription, customer_id: _customer, current_period_end: _end, ...ofPayment } = facts

const canonicalMessage = (name: CanonicalName) => {
  const data = name.startsWith('payment.') ? { ...ofPayment, ...moreData[name] } : facts
  return message(`${pascalCase(name)}Message`, Type.Literal(name), Type.Object(data))
}

const rawMessage = message(
  'RawMessage',
  Type.String({ pattern: '^[a-z-]+:', description: "`<provider>:<the provider's name of the type>`" }),
  Type.Unknown({ description: "The provider's own notification, unchanged" }),
)

const { payment_id, amount, currency, status } = facts
const legacyMessage = message(
  'LegacyMessage',
  Type.String({ description: 'A generic name, such as payment_intent.succeeded' }),
  Type.Object({ payment_id, amount, currency, customer_email: Text, status }),
)

/** The schemas of canonical messages by name, and of raw and legacy messages, whose names depend on the provider. */
export const messageSchemas = {
  canonical: canonicalNames.map((name) => ({ name, ...canonicalMessage(name) })),
  raw: rawMessage,
  legacy: legacyMessage,
}
