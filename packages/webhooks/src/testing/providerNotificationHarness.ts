// Receives notifications of fake providers, and compares the webhooks that follow for endpoints of every mode.
import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { receiveNotification } from '@paylog/commands/notifications/notifications'
import { initiatePayment } from '@paylog/commands/payments/initiatePayment'
import { priceOf } from '@paylog/domain/payments/initiate'
import type { Payment } from '@paylog/domain/payments/payment'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import type { Provider } from '@paylog/providers/provider'
import { startEventStore } from '@paylog/testing/eventStore'
import { paymentFields } from '@paylog/testing/paymentFields'
import type { Test } from 'tap'
import { outboundMessages } from '../messages/outbound.ts'
import { endpointSettings, endpointsFrom } from './eventFixtures.ts'

/** The time at which notifications are received. */
export const now = new Date('2026-01-02T03:04:05.678Z')

export type Notified = {
  readonly provider_type: string
  /** The provider's own time. */
  readonly occurred_at: string
  readonly signed: { readonly headers: Readonly<Record<string, string>>; readonly body: string }
}

/** A canonical or legacy message: its event name and its `data`. */
type Message = readonly [event: string, data: object]

/** The messages that follow from a notification, besides the raw one. */
export type Expected = {
  readonly canonical?: readonly Message[]
  /** Of canonical messages; default: the notification's. */
  readonly canonicalTime?: string
  readonly legacy?: readonly Message[]
}

const modes = [endpointSettings(1, 'canonical'), endpointSettings(2, 'raw'), endpointSettings(3, 'both')]
const endpoints = endpointsFrom(...modes, { EXTERNAL_WEBHOOK_URLS: 'https://example.com/list' })

const payer = { id: 'u1', type: 'customer', email: 'ann@example.com' }
const ourMoney = { amount: 2200, currency: 'USD' }
export const project = { id: 'shop' }

/** The `data` of canonical and legacy messages about a Paylog payment: it does not depend on the notification's content. */
export const ourData = ({ payment_id }: Payment, status: string | null) => ({
  payment_id,
  ...ourMoney,
  status,
  user: payer,
  project,
})
export const ourLegacyData = ({ payment_id }: Payment, status: string) => ({
  payment_id,
  ...ourMoney,
  customer_email: payer.email,
  status,
})

export async function providerNotificationHarness(t: Test) {
  const log = await startEventStore(t)
  const store = connectEventStore(t, { connectionString: log.connectionString, keys: log.keys })
  const workflowOf = (provider: Provider) => ({ store, providers: new Map([[provider.id, provider]]), now: () => now })

  /** The webhooks for everything recorded while `act` runs. */
  async function messagesDuring(act: () => Promise<unknown>) {
    const from = await store.head()
    await act()
    const events: Recorded[] = []
    for await (const event of store.readLog({ prefixes: ['payment-', 'providerEvent-'], from })) events.push(event)
    return events.flatMap((event) => outboundMessages(event, endpoints, { projectId: 'shop', projectIds: [] }))
  }

  /** The webhooks of a notification that is received twice, as providers may send it. */
  const messagesOf = (provider: Provider, { signed }: Pick<Notified, 'signed'>) =>
    messagesDuring(async () => {
      const incoming = { provider, body: Buffer.from(signed.body), headers: signed.headers, requestId: 'request-2' }
      for (let time = 0; time < 2; time++) {
        const { postponed } = await receiveNotification(workflowOf(provider), incoming)
        if (postponed !== undefined) throw postponed
      }
    })

  return {
    messagesDuring,
    /** The names of the canonical messages of notifications, each of which is received twice. */
    async canonicalOf(provider: Provider, notifications: readonly Notified['signed'][]): Promise<readonly string[]> {
      const names: string[] = []
      for (const signed of notifications)
        for (const { endpoint, event } of await messagesOf(provider, { signed }))
          if (endpoint === '1') names.push(event)
      return names
    },
    /** A Paylog payment of 22.00 USD. */
    async open(provider: Provider): Promise<Payment> {
      const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'user:u1' }
      const command = {
        ...paymentFields,
        payment_id: provider.newPaymentId?.() ?? randomUUIDv7(),
        provider_id: provider.id,
        occurred_at: now.toISOString(),
        ...priceOf({ total_cents: ourMoney.amount, currency: ourMoney.currency }),
        payer,
        is_guest_payment: false,
      }
      return (await initiatePayment(workflowOf(provider), command, { metadata })).payment
    },
    /** Compares the webhooks of a notification byte by byte. */
    async check(t: Test, provider: Provider, notified: Notified, expected: Expected): Promise<void> {
      const { provider_type, occurred_at: timestamp, signed } = notified
      const messages = await messagesOf(provider, notified)
      const head = { provider: provider.id, timestamp }
      const at = { ...head, timestamp: expected.canonicalTime ?? timestamp }
      const canonical = (expected.canonical ?? []).map(([event, data]) => JSON.stringify({ event, ...at, data }))
      const legacy = (expected.legacy ?? []).map(([event, data]) => JSON.stringify({ event, ...head, data }))
      const name = JSON.stringify({ event: `${provider.id}:${provider_type}`, ...head })
      const raw = `${name.slice(0, -1)},"data":${signed.body}}`
      const to = (endpoint: string) =>
        messages.filter((message) => message.endpoint === endpoint).map(({ body }) => body)
      t.strictSame(to('1'), canonical, `${provider_type} for a canonical endpoint`)
      t.strictSame(to('2'), [raw], `${provider_type} for a raw endpoint`)
      t.strictSame(to('3').sort(), [...canonical, raw].sort(), `${provider_type} for an endpoint with mode both`)
      t.strictSame(to('legacy-1'), legacy, `${provider_type} for the legacy list`)
      t.equal(new Set(messages.map(({ id }) => id)).size, messages.length, `${provider_type}: message ids are unique`)
    },
    /** Compares the webhooks of a notification about a refund or dispute, which the legacy list does not get. */
    async checkFact(t: Test, provider: Provider, payment: Payment, notified: Notified, fact: object): Promise<void> {
      const messages = await messagesOf(provider, notified)
      const receivers = messages.map(({ endpoint, mode }) => `${endpoint} ${mode}`).sort()
      t.strictSame(receivers, ['1 canonical', '2 raw', '3 canonical', '3 raw'], notified.provider_type)
      const canonical = messages.find(({ endpoint }) => endpoint === '1')
      assert(canonical)
      t.match(JSON.parse(canonical.body), { data: { ...ourData(payment, 'succeeded'), ...fact } })
    },
  }
}
