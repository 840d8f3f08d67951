// Receives a provider's signed notification and compares the webhooks sent to endpoints of every mode.
import { randomUUIDv7 } from 'node:crypto'
import type { Payment } from '@paylog/domain/payments/payment'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { createEventStore } from '@paylog/event-store/eventStore'
import type { Provider } from '@paylog/providers/provider'
import { startEventStore } from '@paylog/testing/eventStore'
import { paymentFields } from '@paylog/testing/paymentFields'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import { outboundMessages } from '@paylog/webhooks/outbound'
import { receiveNotification } from '@paylog/workflows/notifications'
import { openPayment } from '@paylog/workflows/payments/openPayment'
import type { Test } from 'tap'

/** The time at which notifications are received. */
export const now = new Date('2026-01-02T03:04:05.678Z')

export type Signed = { readonly headers: Readonly<Record<string, string>>; readonly body: string }
/** A canonical or legacy message: its event name and its whole `data`. */
export type Message = readonly [event: string, data: object]

/** The webhooks expected for a notification. */
export type Expected = {
  readonly provider_type: string
  /** The provider's own time. */
  readonly occurred_at: string
  /** The time of canonical messages: the notification's, or Paylog's for its own payments. */
  readonly canonicalTime?: string
  readonly canonical: readonly Message[]
  readonly legacy: readonly Message[]
}

const { endpoints } = decodeEndpoints({
  ...endpointVariables(1, 'canonical'),
  ...endpointVariables(2, 'raw'),
  ...endpointVariables(3, 'both'),
  EXTERNAL_WEBHOOK_URLS: 'https://example.com/list',
})

function endpointVariables(index: number, mode: string) {
  return {
    [`WEBHOOK_${index}_ENABLED`]: 'true',
    [`WEBHOOK_${index}_URL`]: `https://example.com/${mode}`,
    [`WEBHOOK_${index}_EVENT_MODE`]: mode,
  }
}

/** Every stream of these tests has one of these prefixes. */
const prefixes = ['payment-', 'paymentMethod-', 'providerEvent-', 'providerCustomer-']

export async function createCanonicalTableHarness(t: Test) {
  const log = await startEventStore(t)
  const store = createEventStore({ connectionString: log.connectionString, keys: log.keys })
  t.teardown(() => store.close())
  const workflowOf = (provider: Provider) => ({ store, providers: new Map([[provider.id, provider]]), now: () => now })

  /** The webhooks for everything recorded while `act` runs. */
  async function messagesDuring(act: () => Promise<unknown>) {
    const from = await store.head()
    await act()
    const events: Recorded[] = []
    for await (const event of store.readLog({ prefixes, from })) events.push(event)
    return events.flatMap((event) => outboundMessages(event, endpoints, { projectId: 'shop', projectIds: [] }))
  }

  /** @throws when the notification was stored but not applied */
  async function receive(provider: Provider, { headers, body }: Signed): Promise<void> {
    const incoming = { provider, body: Buffer.from(body), headers, requestId: 'request-2' }
    const { postponed } = await receiveNotification(workflowOf(provider), incoming)
    if (postponed !== undefined) throw postponed
  }

  return {
    messagesDuring,
    receive,
    /** A Paylog payment of 22.00 USD. */
    async open(provider: Provider, payment_id: string = randomUUIDv7()): Promise<Payment> {
      const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'user:u1' }
      const command = async () => ({
        ...paymentFields,
        payment_id: provider.newPaymentId?.() ?? payment_id,
        provider_id: provider.id,
        occurred_at: now.toISOString(),
        total_cents: 2200,
        currency: 'USD',
        payer: ourPayer,
        is_guest_payment: false,
      })
      return (await openPayment(workflowOf(provider), { earlier: null, command, metadata })).payment
    },
    /** Receives a notification one or more times, and compares the webhooks of all endpoints with the expected ones. */
    async check(t: Test, provider: Provider, signed: Signed, expected: Expected, times = 1): Promise<void> {
      const messages = await messagesDuring(async () => {
        for (let time = 0; time < times; time++) await receive(provider, signed)
      })
      const to = (name: string) => messages.filter((message) => message.node === name).map((message) => message.body)
      const head = { provider: provider.id, timestamp: expected.occurred_at }
      const at = { ...head, timestamp: expected.canonicalTime ?? expected.occurred_at }
      const canonical = expected.canonical.map(([event, data]) => JSON.stringify({ event, ...at, data }))
      const legacy = expected.legacy.map(([event, data]) => JSON.stringify({ event, ...head, data }))
      const name = JSON.stringify({ event: `${provider.id}:${expected.provider_type}`, ...head })
      const raw = `${name.slice(0, -1)},"data":${signed.body}}`
      t.strictSame(to('1'), canonical, 'canonical endpoint')
      t.strictSame(to('2'), [raw], 'raw endpoint, byte by byte')
      t.strictSame(to('3').sort(), [...canonical, raw].sort(), 'endpoint with mode both')
      t.strictSame(to('legacy-1'), legacy, 'legacy list')
      t.equal(new Set(messages.map(({ id }) => id)).size, messages.length, 'message ids are unique')
    },
  }
}

const ourPayer = { id: 'u1', type: 'customer', email: 'ann@example.com' }
const project = { id: 'shop' }

/** The canonical message about a Paylog payment. It does not depend on the notification's content. */
export function ownMessage({ payment_id }: Payment, event: string, status: string | null): Message {
  return [event, { payment_id, amount: 2200, currency: 'USD', status, user: ourPayer, project }]
}

/** The canonical message about a Paylog payment that an intent of another system names. */
export function ownAttention(payment: Payment): Message {
  const message = 'An intent at the provider names this payment, but belongs to another system'
  const [event, data] = ownMessage(payment, 'payment.attention', null)
  return [event, { ...data, attention: { code: 'foreign_intent', message } }]
}

/** The legacy message about a Paylog payment. */
export function ownLegacyMessage({ payment_id }: Payment, event: string, fields: object = {}): Message {
  const data = { payment_id, amount: 2200, currency: 'USD', customer_email: ourPayer.email, status: null }
  return [event, { ...data, ...fields }]
}

/** The customer named in a foreign notification. */
export type Customer = { readonly id: string | null; readonly email: string | null }
type Money = { readonly amount: number | null; readonly currency: string | null }
export const noMoney: Money = { amount: null, currency: null }

/** The canonical message about a foreign object. @param fields the fields of the interface, and Paylog's additional ones */
export function foreignMessage(
  event: string,
  { id, email }: Customer,
  fields: Money & {
    readonly payment_id?: string | null
    readonly status: string | null
    readonly subscription_id?: string
    readonly customer_id?: string
    readonly current_period_end?: string
  },
): Message {
  const { payment_id = null, amount, currency, status, subscription_id, customer_id, current_period_end } = fields
  const user = { id, type: 'customer', email }
  const extra = { subscription_id, customer_id, current_period_end }
  return [event, { payment_id, amount, currency, status, user, project, ...extra }]
}

/** The legacy message about a foreign object. */
export function foreignLegacyMessage(
  event: string,
  { email }: Pick<Customer, 'email'>,
  {
    payment_id = null,
    amount,
    currency,
    status,
  }: Money & { readonly payment_id?: string | null; readonly status: string | null },
): Message {
  return [event, { payment_id, amount, currency, customer_email: email, status }]
}
