// Notifications of the fake gateway, as the adapter takes them in.
import type { FakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { Test } from 'tap'
import type { Provider } from '../../provider.ts'
import { openHostedPage, authorizeNetHarness } from './testGateway.ts'

/** The latest notification as it is received: verified, read and completed. */
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
