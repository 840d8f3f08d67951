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
/** Whom the token stands for, so long after the start. */
function remembered(history: readonly GuestTokenEvent[], ms: number, maxAgeMs = dayMs) {
  return rememberedEmail(
    history.reduce(guestTokenFold.evolve, guestTokenFold.initialState),
    new Date(startMs + ms),
    maxAgeMs,
  )
}

t.test('a token is recorded when it is seen, and within a minute only once', async (t) => {
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

t.test('another e-mail is recorded at once, and a token with two is no more than seen from then on', async (t) => {
  const history = [seen('ann@example.com', 0)]
  given(t, guestTokenFold, history)
    .when(uses('ben@example.com', 1))
    .then([seen('ben@example.com', 1)])
  const both = [...history, seen('ben@example.com', 1)]
  for (const email of ['ann@example.com', 'ben@example.com', 'eve@example.com'])
    given(t, guestTokenFold, both).when(uses(email, 2)).then([])
})

t.test('a token that was seen stands for its e-mail until it is too long ago', async (t) => {
  const history = [seen('Ann@Example.com', 0)]
  t.equal(remembered([], 0), undefined)
  t.equal(remembered(history, 0), 'Ann@Example.com')
  t.equal(remembered(history, dayMs - 1), 'Ann@Example.com')
  t.equal(remembered(history, dayMs), undefined)
  t.equal(remembered(history, minuteMs, minuteMs), undefined)
  t.equal(remembered(history, 0, 0), undefined)
  t.equal(remembered(history, -1, 0), undefined)
})

t.test('the time counts from when it was seen last', async (t) => {
  const history = [seen('ann@example.com', 0), seen('ANN@example.com', dayMs / 2)]
  t.equal(remembered(history, dayMs * 1.5 - 1), 'ANN@example.com')
  t.equal(remembered(history, dayMs * 1.5), undefined)
})

t.test('a token that was seen with two e-mails stands for nobody, whatever is seen later', async (t) => {
  const two = [seen('ann@example.com', 0), seen('ben@example.com', 1)]
  t.equal(remembered(two, 2), undefined)
  t.equal(
    remembered([...two, seen('ben@example.com', minuteMs), seen('ben@example.com', 2 * minuteMs)], dayMs),
    undefined,
  )
  // A Kelvin sign is a letter of its own, though Unicode calls it a capital k.
  t.equal(remembered([seen('k@example.com', 0), seen('\u212a@example.com', 1)], 2), undefined)
})

t.test('a time that has not come yet is not recent for ever', async (t) => {
  t.equal(remembered([seen('ann@example.com', minuteMs)], 0), 'ann@example.com', 'clocks may be apart a little')
  t.equal(remembered([seen('ann@example.com', minuteMs + 1)], 0), undefined)
  t.equal(remembered([seen('ann@example.com', 365 * dayMs)], dayMs), undefined)
  t.equal(
    remembered([seen('ann@example.com', 365 * dayMs), seen('ann@example.com', 0)], 0),
    'ann@example.com',
    'and what the mended clock says counts',
  )
})
