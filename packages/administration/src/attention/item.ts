// What an item of attention is: its codes, the worst first, and the limits from which on something is one.
import { Instant } from '@paylog/domain/fields'
import { AttentionCode } from '@paylog/domain/payments/events'
import { type Static, Type } from 'typebox'

/** The worst first: what stops payments, reads or notifications, then money, then single endpoints. */
export const attentionCodes = [
  'log_not_verified',
  'provider_refused',
  'read_model_stopped',
  'deliveries_late',
  'attention_unknown',
  'provider_silent',
  'evidence_due',
  'money_after_cancellation',
  'unrequested_charge',
  'amount_mismatch',
  'refund_exceeds_payment',
  'endpoint_failing',
  'endpoint_paused',
  'reported_in_other_currency',
  'foreign_intent',
] as const
export type AttentionItemCode = (typeof attentionCodes)[number]

/** Those of payments. */
export const paymentCodes: readonly AttentionCode[] = AttentionCode.enum

/** The alerts for Prometheus have the same; deploy/prometheus/attention.test.ts compares them. */
export const attentionLimits = {
  /** How far a read model may be behind the log, and how long nobody may have reported it. */
  readModelSeconds: 60,
  /** How long a delivery may be due. */
  lateSeconds: 300,
  /** For how long a delivery that failed for good, and was not sent again, is an item. */
  failedDays: 7,
  /** How long the attempts of a delivery may fail before it is an item. */
  retriedMinutes: 15,
  /** How many notifications in a row may be refused for their signature: anybody can send some. */
  refusedSignatures: 3,
  silentHours: 24,
  /** How soon evidence is due. */
  evidenceDays: 7,
} as const

export const AttentionItem = Type.Object(
  {
    code: Type.Enum(attentionCodes, {
      description:
        'As the entries of a payment have it, or: `endpoint_failing`, `endpoint_paused`, `deliveries_late` (due for five minutes), ' +
        '`read_model_stopped` (or more than a minute behind), `evidence_due` (within 7 days), `provider_silent` (payments of a ' +
        'day, and no notification), `provider_refused` (its signatures, or our credentials), `log_not_verified`, and ' +
        '`attention_unknown` for what could not be looked at',
    }),
    message: Type.String({ description: 'One sentence for people; may change' }),
    occurred_at: Type.With(Instant, { description: 'When it happened last, or since when it lasts' }),
    link: Type.String({ description: 'The page of the console that shows it, below /console' }),
    count: Type.Integer({
      description: 'How many payments, disputes, deliveries, events or notifications it is about; counted up to 10000',
    }),
  },
  { title: 'AttentionItem' },
)
export type AttentionItem = Static<typeof AttentionItem>

export const exampleAttention: readonly AttentionItem[] = [
  {
    code: 'evidence_due',
    message: 'Evidence for 2 disputes is due within 7 days, the first by 2026-02-03 12:00 UTC',
    occurred_at: '2026-01-27T09:30:00.000Z',
    link: '/disputes?status=open',
    count: 2,
  },
  {
    code: 'endpoint_failing',
    message: '940 deliveries to endpoint 1 (shop.example.com) failed within 7 days, without being sent again',
    occurred_at: '2026-01-31T12:00:00.000Z',
    link: '/webhooks/endpoints/1?status=failed',
    count: 940,
  },
]

/** `1 payment`, `2 payments`. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
