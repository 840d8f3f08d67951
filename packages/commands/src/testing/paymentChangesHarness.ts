// The write API with a provider that has hosted pages, and requests that change payments.

import type { RefundResource } from '@paylog/domain/payments/refunds'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import type { CreateIntent, Provider } from '@paylog/providers/provider'
import { checkStripeAmount } from '@paylog/providers/stripe/objects'
import type { Test } from 'tap'
import { ada, admin, commandApiHarness, type Headers } from './commandApiHarness.ts'
import { createFakeProvider } from './fakeProvider.ts'

export async function paymentChangesHarness(t: Test) {
  const { fake, provider: plain } = createFakeProvider(t)
  const created: CreateIntent[] = []
  const expiredPages = new Set<string>()
  const provider: Provider = {
    ...plain,
    pagesExpire: true,
    checkAmount: checkStripeAmount,
    async createIntent(request) {
      created.push(request)
      const intent = await plain.createIntent(request)
      return { ...intent, redirect_url: `https://pay.example.com/${intent.provider_intent_id}` }
    },
    async retrieveIntent(ref) {
      const found = (await plain.retrieveIntent?.(ref)) ?? null
      return found && { ...found, is_page_expired: expiredPages.has(ref.provider_intent_id) }
    },
  }
  /** The newest intent of a payment. */
  const intentOf = (paymentId: string) => {
    const intent = fake.of(paymentId).at(-1)
    if (!intent) throw new Error('no intent')
    return intent
  }
  const api = await commandApiHarness(t, { providers: [provider] })
  const { send } = api
  const change = (id: string, action: string, body?: unknown, headers: Headers = admin) =>
    send<PaymentResource>('POST', `/payments/${id}/${action}`, headers, body)
  const open = async (more: object = {}, headers: Headers = ada) => {
    const body = { total_cents: 2599, currency: 'EUR', ...more }
    return (await send<PaymentResource>('POST', '/payments/intents', headers, body)).data.id
  }
  return {
    ...api,
    fake,
    /** The arguments of each call that creates an intent. */
    created,
    intentOf,
    pay: (paymentId: string) => fake.charge(intentOf(paymentId)),
    expirePage: (paymentId: string) => void expiredPages.add(intentOf(paymentId).id),
    change,
    open,
    /** A payment of ada's that was paid, and is recorded as such. */
    async paid(more: object = {}) {
      const id = await open(more)
      fake.charge(intentOf(id))
      await change(id, 'refresh')
      return id
    },
    /** A payment of ada's that is authorized. */
    async authorized(more: object = {}) {
      const id = await open({ capture_method: 'manual', ...more })
      fake.authorize(intentOf(id))
      await change(id, 'refresh')
      return id
    },
    refund: (id: string, body?: unknown, headers: Headers = admin) =>
      send<RefundResource>('POST', `/payments/${id}/refunds`, headers, body),
  }
}
