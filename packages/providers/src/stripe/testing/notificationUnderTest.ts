// Stripe's notifications as a test writes them, and what we read from them.
import { readNotification } from '../notification.ts'

/** Unix seconds, and the same time in ISO 8601. */
export const createdSeconds = 1_767_268_800
export const occurred_at = '2026-01-01T12:00:00.000Z'
export const intentFixture = { id: 'pi_1', amount: 2599, currency: 'eur', status: 'processing', customer: 'cus_1' }

export const eventFixture = (type: string, object: object, previous_attributes?: object) => ({
  id: 'evt_1',
  object: 'event',
  type,
  created: createdSeconds,
  data: { object, ...(previous_attributes ? { previous_attributes } : {}) },
})
export const readBody = (body: unknown) => readNotification(Buffer.from(JSON.stringify(body)))
export const readEvent = (type: string, object: object, previous?: object) =>
  readBody(eventFixture(type, object, previous))
