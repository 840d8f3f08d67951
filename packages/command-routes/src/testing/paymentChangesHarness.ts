// The write API with a provider that keeps balances, and requests that change payments.

import type { RefundResource } from '@paylog/domain/payments/refunds'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import type { PaymentOptions } from '../payments/checkout.ts'
import { ada, admin, commandApiHarness, type Headers } from './commandApiHarness.ts'
import { createFakeMoneyProvider } from './fakeMoneyProvider.ts'

export async function paymentChangesHarness(t: Test, payments: Partial<PaymentOptions> = {}) {
  const { fake, provider } = createFakeMoneyProvider()
  const api = await commandApiHarness(t, { providers: [provider], payments })
  const { send, store } = api
  const change = (id: string, action: string, body?: unknown, headers: Headers = admin) =>
    send<PaymentResource>('POST', `/payments/${id}/${action}`, headers, body)
  const open = async (more: object = {}, headers: Headers = ada) => {
    const body = { total_cents: 2599, currency: 'EUR', ...more }
    return (await send<PaymentResource>('POST', '/payments/intents', headers, body)).data.id
  }
  return {
    ...api,
    fake,
    change,
    open,
    /** A payment of ada's that was paid, and is recorded as such. */
    async paid(more: object = {}) {
      const id = await open(more)
      fake.pay(id)
      await change(id, 'refresh')
      return id
    },
    /** A payment of ada's that is authorized. */
    async authorized(more: object = {}) {
      const id = await open({ capture_method: 'manual', ...more })
      fake.authorize(id)
      await change(id, 'refresh')
      return id
    },
    refund: (id: string, body?: unknown, headers: Headers = admin) =>
      send<RefundResource>('POST', `/payments/${id}/refunds`, headers, body),
    typesOf: async (id: string) => (await store.readStream(paymentStream(id))).map(({ type }) => type),
  }
}
