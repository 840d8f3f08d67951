// Test support: the Authorize.Net adapter connected to a fake gateway.
import {
  type FakeAuthorizeNet,
  type FakeAuthorizeNetOptions,
  startFakeAuthorizeNet,
} from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { Test } from 'tap'
import type { CreateIntent, IntentRef, Provider } from '../../provider.ts'
import { connectAuthorizeNet } from '../../testing/providerHarness.ts'

export const sampleIntent: CreateIntent = {
  payment_id: '018f2a3b-4c5d-7e6f-8a9b-0c1d2e3f4a5b',
  idempotency_key: '018f2a3b-4c5d-7e6f-8a9b-0c1d2e3f4a5b',
  amount_cents: 2599,
  currency: 'USD',
  description: 'Two tickets',
  capture_method: 'automatic',
  return_url: null,
  cancel_url: null,
  statement_descriptor: null,
  provider_method_id: null,
  provider_customer_id: null,
}

export const sampleInvoice = '7e6f8a9b0c1d2e3f4a5b'

/** @param options `timeoutMs` of the adapter, and the fake's options */
export async function authorizeNetHarness(
  t: Test,
  options: FakeAuthorizeNetOptions & { readonly timeoutMs?: number } = {},
) {
  const fake = await startFakeAuthorizeNet(t, options)
  return { fake, provider: connectTo(t, fake, options) }
}

export function connectTo(
  t: Test,
  fake: { readonly origin: string; readonly signatureKey: string },
  {
    timeoutMs = 5000,
    transactionKey = 'fake-key',
  }: { readonly timeoutMs?: number; readonly transactionKey?: string } = {},
): Provider {
  return connectAuthorizeNet(t, { ...fake, apiLoginId: 'fake-login', transactionKey }, { timeoutMs })
}

/** Creates the sample payment's intent. @returns the payer's token */
export async function openHostedPage(provider: Provider, more: Partial<CreateIntent> = {}): Promise<{ token: string }> {
  const { client_secret } = await provider.createIntent({ ...sampleIntent, ...more })
  if (client_secret === null) throw new Error('no token')
  return { token: client_secret }
}

/** @param created_at by the fake's clock, which may run ahead */
export const sampleRef = (created_at: number, more: Partial<IntentRef> = {}): IntentRef => ({
  payment_id: sampleIntent.payment_id,
  provider_intent_id: sampleInvoice,
  provider_payment_id: null,
  currency: 'USD',
  capture_method: 'automatic',
  created_at: new Date(created_at).toISOString(),
  ...more,
})

export async function retrieve(provider: Provider, ref: IntentRef) {
  const snapshot = await provider.retrieveIntent?.(ref)
  if (!snapshot) throw new Error('no snapshot')
  return snapshot
}

/** Verifies, reads and completes the fake's latest notification. */
export async function receiveLatest(fake: FakeAuthorizeNet, provider: Provider) {
  const event = fake.events.at(-1)
  if (!event) throw new Error('nothing was sent')
  const { headers, body } = fake.signed(event)
  await provider.verifyNotification({ body: Buffer.from(body), headers, now: new Date() })
  return complete(provider, provider.readNotification(Buffer.from(body)))
}

export async function complete(provider: Provider, notification: ReturnType<Provider['readNotification']>) {
  const completed = await provider.completeNotification?.(notification)
  if (!completed) throw new Error('not completed')
  return { notification, completed }
}

export async function paidGateway(t: Test, payment: Parameters<FakeAuthorizeNet['pay']>[1] = {}) {
  const gateway = await authorizeNetHarness(t)
  const { transId } = gateway.fake.pay(await openHostedPage(gateway.provider), payment)
  return { ...gateway, transId }
}
