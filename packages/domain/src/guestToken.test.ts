import { given } from '@paylog/testing/assertions'
import t from 'tap'
import {
  type GuestTokenEvent,
  guestTokenFold,
  recordGuestTokenUse,
  rememberedEmail,
  type SeenGuestToken,
} from './guestToken.ts'

const startMs = Date.parse('2026-01-01T00:00:00.000Z')
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const at = (ms: number) => new Date(startMs + ms).toISOString()
const seen = (guest_email: string, ms: number): GuestTokenEvent => ({
  type: 'GuestTokenSeen',
  data: { guest_email, occurred_at: at(ms) },
})
const uses = (guest_email: string, ms: number) => (known: SeenGuestToken | null) =>
  recordGuestTokenUse(known, { guest_email, occurred_at: at(ms) })
/** The remembered e-mail, `ms` after the start. */
function remembered(history: readonly GuestTokenEvent[], ms: number, maxAgeMs = dayMs) {
  return rememberedEmail(
    history.reduce(guestTokenFold.evolve, guestTokenFold.initialState),
    new Date(startMs + ms),
    maxAgeMs,
  )
}

t.test('a guest token is recorded when it is seen, at most once a minute', async (t) => {
  given(t, guestTokenFold, [])
    .when(uses('ann@example.com', 0))
    .then([seen('ann@example.com', 0)])
  const history = [seen('ann@example.com', 0)]
  for (const ms of [-minuteMs + 1, 0, minuteMs - 1])
    given(t, guestTokenFold, history).when(uses('Ann@Example.com', ms)).then([])
  for (const ms of [-minuteMs, minuteMs])
    given(t, guestTokenFold, history)
      .when(uses('ann@example.com', ms))
      .then([seen('ann@example.com', ms)])
})

t.test('a second e-mail of a guest token is recorded at once, and no further use within a minute', async (t) => {
  const history = [seen('ann@example.com', 0)]
  given(t, guestTokenFold, history)
    .when(uses('ben@example.com', 1))
    .then([seen('ben@example.com', 1)])
  const both = [...history, seen('ben@example.com', 1)]
  for (const email of ['ann@example.com', 'ben@example.com', 'eve@example.com'])
    given(t, guestTokenFold, both).when(uses(email, 2)).then([])
})

t.test('a guest token is remembered until its maximum age', async (t) => {
  const history = [seen('Ann@Example.com', 0)]
  t.equal(remembered([], 0), undefined)
  t.equal(remembered(history, 0), 'Ann@Example.com')
  t.equal(remembered(history, dayMs - 1), 'Ann@Example.com')
  t.equal(remembered(history, dayMs), undefined)
  t.equal(remembered(history, minuteMs, minuteMs), undefined)
  t.equal(remembered(history, 0, 0), undefined)
  t.equal(remembered(history, -1, 0), undefined)
})

t.test('the age of a guest token counts from when it was last seen', async (t) => {
  const history = [seen('ann@example.com', 0), seen('ANN@example.com', dayMs / 2)]
  t.equal(remembered(history, dayMs * 1.5 - 1), 'ANN@example.com')
  t.equal(remembered(history, dayMs * 1.5), undefined)
})

t.test('a guest token seen with two e-mails is never remembered', async (t) => {
  const two = [seen('ann@example.com', 0), seen('ben@example.com', 1)]
  t.equal(remembered(two, 2), undefined)
  t.equal(
    remembered([...two, seen('ben@example.com', minuteMs), seen('ben@example.com', 2 * minuteMs)], dayMs),
    undefined,
  )
  // A Kelvin sign is not an ASCII k, although Unicode lower-cases it to one.
  t.equal(remembered([seen('k@example.com', 0), seen('\u212a@example.com', 1)], 2), undefined)
})

t.test('a guest token seen in the future is not remembered, apart from a minute of clock skew', async (t) => {
  t.equal(remembered([seen('ann@example.com', minuteMs)], 0), 'ann@example.com', 'within the clock skew')
  t.equal(remembered([seen('ann@example.com', minuteMs + 1)], 0), undefined)
  t.equal(remembered([seen('ann@example.com', 365 * dayMs)], dayMs), undefined)
  t.equal(
    remembered([seen('ann@example.com', 365 * dayMs), seen('ann@example.com', 0)], 0),
    'ann@example.com',
    'the time of the corrected clock counts',
  )
})
