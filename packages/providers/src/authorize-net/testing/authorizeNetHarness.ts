// Test support: the Authorize.Net adapter connected to a fake gateway.
import {
  type FakeAuthorizeNet,
  type FakeAuthorizeNetOptions,
  startFakeAuthorizeNet,
} from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { Test } from 'tap'
import type { CreateIntent, IntentRef, Provider, ProviderNotification } from '../../provider.ts'
import { type ConnectedProvider, connect } from '../../testing/providerHarness.ts'
import { createRequest, refTo } from '../../testing/requests.ts'

export const sampleIntent: CreateIntent = { ...createRequest, currency: 'USD', description: 'Two tickets' }

export const sampleInvoice = '7e6f8a9b0c1d2e3f4a5b'

/** @param options `timeoutMs` of the adapter, and the fake's options */
export async function authorizeNetHarness(
  t: Test,
  { timeoutMs, ...options }: FakeAuthorizeNetOptions & { readonly timeoutMs?: number } = {},
) {
  const fake = await startFakeAuthorizeNet(t, options)
  return { fake, provider: await connect(t, fake.env, { timeoutMs }) }
}

/** Creates the sample payment's intent. @returns the payer's token */
export async function openHostedPage(provider: Provider, more: Partial<CreateIntent> = {}): Promise<{ token: string }> {
  const { client_secret } = await provider.createIntent({ ...sampleIntent, ...more })
  if (client_secret === null) throw new Error('no token')
  return { token: client_secret }
}

/** @param created_at by the fake's clock, which may run ahead */
export const sampleRef = (created_at: number, more: Partial<IntentRef> = {}): IntentRef =>
  refTo(sampleInvoice, { currency: 'USD', created_at: new Date(created_at).toISOString(), ...more })

export async function retrieve(provider: ConnectedProvider, ref: IntentRef) {
  const snapshot = await provider.retrieveIntent(ref)
  if (!snapshot) throw new Error('no snapshot')
  return snapshot
}

/** Verifies, reads and completes the fake's latest notification. */
export async function receiveLatest(fake: FakeAuthorizeNet, provider: ConnectedProvider) {
  const event = fake.events.at(-1)
  if (!event) throw new Error('nothing was sent')
  const { headers, body } = fake.signed(event)
  await provider.verifyNotification({ body: Buffer.from(body), headers, now: new Date() })
  return complete(provider, provider.readNotification(Buffer.from(body)))
}

export async function complete(provider: ConnectedProvider, notification: ProviderNotification) {
  return { notification, completed: await provider.completeNotification(notification) }
}

export async function paidGateway(t: Test, payment: Parameters<FakeAuthorizeNet['pay']>[1] = {}) {
  const merchant = await authorizeNetHarness(t)
  const { transId } = merchant.fake.pay(await openHostedPage(merchant.provider), payment)
  return { ...merchant, transId }
}
