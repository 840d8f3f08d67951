// Authorize.Net's receiver before a fake gateway, with what payers and merchants do at it.
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FakeEvent } from '@paylog/testing/authorize-net/notifications'
import type { Test } from 'tap'
import { providerFromEnv } from './providerBy.ts'
import { type OpenedPayment, receiverHarness } from './receiverUnderTest.ts'

export async function authorizeNetHarness(t: Test) {
  const fake = await startFakeAuthorizeNet(t)
  const oldKey = 'F0E1D2C3B4A59687'.repeat(8)
  const provider = await providerFromEnv(t, {
    ...fake.env,
    AUTHORIZE_NET_SIGNATURE_KEY: `${oldKey},${fake.signatureKey}`,
  })
  const receiver = await receiverHarness(t, provider)
  /** What the gateway tells of what somebody does. */
  function notificationOf(act: () => unknown): FakeEvent {
    const before = fake.events.length
    act()
    const told = fake.events[before]
    if (!told) throw new Error('There is no notification')
    return told
  }
  return {
    ...receiver,
    fake,
    /** Still good, during the rotation. */
    oldKey,
    toldOf: notificationOf,
    /** The gateway sends what it has signed, and it is taken in. */
    async deliver(...events: readonly FakeEvent[]): Promise<void> {
      for (const told of events) {
        const [status, code] = await receiver.send(fake.signed(told))
        if (status !== 200) throw new Error(`${told.eventType} was answered ${status} ${code}`)
      }
    },
    /** The payer submits the hosted form. */
    pay({ secret }: OpenedPayment, outcome: 'approved' | 'held' = 'approved') {
      let transId = ''
      const told = notificationOf(() => {
        transId = fake.pay({ token: secret }, { outcome }).transId
      })
      return { told, transId }
    },
  }
}
