// Authorize.Net's notifications: short bodies, signed with the text of the signature key.
import { createHmac, randomUUID } from 'node:crypto'
import type { SignedEvent } from '../fakeServer.ts'
import { decimal, toJson } from './server.ts'
import type { Transaction } from './transactions.ts'

export type FakeEvent = {
  readonly notificationId: string
  readonly eventType: string
  /** The bytes that are signed and sent. */
  readonly body: string
}

/** Signs the bytes of an event with the text of the key. */
export function signEvent({ body }: Pick<FakeEvent, 'body'>, key: string): SignedEvent {
  const digest = createHmac('sha512', key).update(body).digest('hex').toUpperCase()
  return { headers: { 'content-type': 'application/json', 'x-anet-signature': `sha512=${digest}` }, body }
}

export function createEvent(eventType: string, payload: object, at: number): FakeEvent {
  const notificationId = randomUUID()
  const body = toJson({
    notificationId,
    eventType,
    // The provider's times have seven fractional digits.
    eventDate: new Date(at).toISOString().replace('Z', '2007Z'),
    webhookId: '849eb87e-078a-4169-a34b-c0bded5019a8',
    payload,
  })
  return { notificationId, eventType, body }
}

/** Has no invoice number and no currency, like the provider's. */
export function transactionPayload({ responseCode, authCents, transId }: Transaction) {
  return {
    responseCode,
    authCode: 'Z3PV5H',
    avsResponse: 'Y',
    authAmount: decimal(authCents, 1),
    entityName: 'transaction',
    id: transId,
  }
}
