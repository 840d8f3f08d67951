// The time that a call to the event store may take, alone and in a request.
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { asOneRequest, boundedCall } from './waiting.ts'

const limitMs = 5_000

/** A call that takes `ms`. @returns how long it could have taken */
async function call(ms = 0): Promise<number> {
  const now = performance.now()
  return await boundedCall(limitMs, async (giveUpAt) => {
    await sleep(ms)
    return giveUpAt - now
  })
}

const isAbout = (t: Test, leftMs: number, wanted: number) =>
  t.ok(Math.abs(leftMs - wanted) < 200, `${Math.round(leftMs)} ms instead of ${wanted}`)

t.test('a call outside of a request has its whole time, also after a slow one', async (t) => {
  await call(600)
  isAbout(t, await call(), limitMs)
})

t.test('the calls of a request share the time of one', async (t) => {
  await asOneRequest(async () => {
    isAbout(t, await call(600), limitMs)
    isAbout(t, await call(600), limitMs - 600)
    await Promise.all([call(1_000), call(600)])
    isAbout(t, await call(), limitMs - 2_200)
    await asOneRequest(async () => isAbout(t, await call(), limitMs - 2_200))
    await sleep(700)
    isAbout(t, await call(), limitMs - 2_200)
  })
})

t.test('short calls do not count, and a call has half a second when nothing is left', async (t) => {
  await asOneRequest(async () => {
    for (let n = 0; n < 10; n++) await call(60)
    isAbout(t, await call(), limitMs)
    await Promise.all([boundedCall(500, () => sleep(700)), sleep(1)])
    isAbout(t, await boundedCall(500, async (giveUpAt) => giveUpAt - performance.now()), 500)
  })
})
