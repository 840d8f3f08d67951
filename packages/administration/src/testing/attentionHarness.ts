// Everything that attention is made from, as the processes store it.
import { randomUUID } from 'node:crypto'
import type { KnownProvider } from '@paylog/commands/provider-calls/enabledProviders'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import type { PaymentState } from '@paylog/domain/payments/payment'
import { createApplier } from '@paylog/projections/apply/applier'
import { recordLags } from '@paylog/projections/lag'
import { projections } from '@paylog/projections/registry'
import { addPaymentTo, createLogFixture, type PaymentFacts } from '@paylog/projections/testing/logFixture'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import type { Pool } from 'pg'

export const providers: readonly KnownProvider[] = [
  { id: 'stripe', name: 'Stripe', mode: 'live' },
  { id: 'paypal', name: 'PayPal', mode: null },
  { id: 'sandbox', name: 'The sandbox', mode: 'sandbox' },
]

export const { endpoints } = decodeEndpoints({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: 'https://shop.example.com/hooks?token=secret',
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_NAME: 'Bookkeeping',
  WEBHOOK_2_URL: 'https://erp.example.com:8443/',
})

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000)

type DeliveryFacts = {
  readonly node: string
  /** When it failed for good; a pending one has none. */
  readonly failedAgo?: number
  /** Since when its attempts fail, and when the next one is due. */
  readonly failingFor?: number
  readonly dueFor?: number
  readonly isTest?: boolean
}

/** @param pool of a migrated database, without processes */
export function attentionHarness(pool: Pool) {
  const log = createLogFixture()
  let applied = 0
  return {
    log,
    /** Opens a payment that began some time ago. @returns its id */
    pay: (ago: number, facts: PaymentFacts = {}) =>
      addPaymentTo(log, { occurred_at: secondsAgo(ago).toISOString(), provider_id: 'stripe', ...facts }),
    decide: (payment: string, decision: (state: PaymentState) => readonly PaymentEvent[]) =>
      log.decide(payment, decision),
    /** Applies the log to the read models. */
    async project() {
      for (const projection of projections) {
        const applier = createApplier({ pool, projection, version: 1, source: log })
        await applier.start()
        await applier.apply(log.batch(applied))
      }
      applied = log.events.length
    },
    /** As a projector does every few seconds. @param seconds how far each read model is behind */
    reportLag: (seconds: Readonly<Record<string, number>>) =>
      recordLags(
        pool,
        new Map(Object.entries(seconds).map(([name, lag]) => [name, { events: 12, isMore: false, seconds: lag }])),
      ),
    endpoint: (name: string, { isConfigured = true, pausedAgo }: { isConfigured?: boolean; pausedAgo?: number } = {}) =>
      pool.query('insert into webhooks.nodes (name, is_configured, disabled_at) values ($1, $2, $3)', [
        name,
        isConfigured,
        pausedAgo === undefined ? null : secondsAgo(pausedAgo),
      ]),
    async deliver({ node, failedAgo, failingFor, dueFor = 0, isTest = false }: DeliveryFacts) {
      const first =
        failingFor === undefined ? [] : [[secondsAgo(failingFor).getTime(), 5, 503, 'unexpected_status', '']]
      const error = failedAgo === undefined && failingFor === undefined ? null : 'unexpected_status'
      const [table, column] =
        failedAgo === undefined ? ['deliveries', 'next_attempt_at'] : ['finished_deliveries', 'ended_at']
      if (failedAgo !== undefined)
        await pool.query('select webhooks.create_partitions($1::date, $1::date)', [secondsAgo(failedAgo)])
      await pool.query(
        `insert into webhooks.${table} (id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
           correlation_id, causation_id, attempts, attempts_made, last_error, last_attempt_at, created_at, is_test, ${column})
         values ($1, $2, 'payment.succeeded', 'canonical', 'stripe', '{}', 'payment-1', 1, $1, 'c', 'c', $3, $4, $5, $6, $6, $7, $8)`,
        [randomUUID(), node, first.length, JSON.stringify(first), error, secondsAgo(3_600), isTest].concat([
          secondsAgo(failedAgo ?? dueFor) as never,
        ]),
      )
    },
  }
}
