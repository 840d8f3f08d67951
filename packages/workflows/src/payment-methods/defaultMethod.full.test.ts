// The default among saved methods, under removal, re-adding and crashes.
import { ownerOf } from '@paylog/domain/actor'
import { defaultChoiceStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { type Caller, interleaved, newGuest, newUser, savedMethodHarness } from '../testing/savedMethodHarness.ts'
import { crashAfter, crashes, seededRandom } from '../testing/workflowHarness.ts'

const { workflow, newToken, save, change, remove, stateOf, defaultsOf } = await savedMethodHarness(t)

t.test('a removed default that is added again does not restore an older default', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    const tokens = [newToken(), newToken()]
    const [older = '', newer = ''] = tokens
    for (const token of tokens) await save({ by, token })
    await change({ by, token: older }, { is_default: true })
    // Crashes before the older one is cleared.
    await t.rejects(change({ by, token: newer, on: crashAfter(2, workflow) }, { is_default: true }))
    t.same(await defaultsOf(by, tokens), [newer])
    await remove({ by, token: newer })
    t.same(await defaultsOf(by, tokens), [])
    await save({ by, token: newer })
    t.same(await defaultsOf(by, tokens), [])
    t.match(await stateOf(older), { is_default: false })
  }
})

t.test("a removed default that another owner adds does not restore the first owner's older default", async (t) => {
  const [by, other] = [newGuest(), newUser()]
  const tokens = [newToken(), newToken()]
  const [older = '', newer = ''] = tokens
  for (const token of tokens) await save({ by, token })
  await change({ by, token: older }, { is_default: true })
  await t.rejects(change({ by, token: newer, on: crashAfter(2, workflow) }, { is_default: true }))
  await remove({ by, token: newer })
  await save({ by: other, token: newer }, { is_default: true })
  t.same(await defaultsOf(by, tokens), [])
  t.same(await defaultsOf(other, tokens), [newer])
})

t.test('a retry finishes a request for a new default that crashed at any append', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    let appends = 0
    for (let isOver = false; !isOver; appends++) {
      const tokens = [newToken(), newToken()]
      const [older = '', newer = ''] = tokens
      await save({ by, token: older }, { is_default: true })
      await save({ by, token: newer })
      const on = crashAfter(appends, workflow)
      isOver = !(await crashes(change({ by, token: newer, on }, { is_default: true, alias: 'Chosen' })))
      const { method } = await change({ by, token: newer }, { is_default: true, alias: 'Chosen' })
      t.match(method, { is_default: true, alias: 'Chosen' }, `after ${appends} appends`)
      t.same(await defaultsOf(by, tokens), [newer])
      t.match(await stateOf(older), { is_default: false })
    }
    t.ok(appends > 3, 'there are at least four crash points')
  }
})

t.test('a method that is chosen again while it is being cleared stays the default', async (t) => {
  const by = newUser()
  const tokens = [newToken(), newToken()]
  const [older = '', newer = ''] = tokens
  await save({ by, token: older }, { is_default: true })
  await save({ by, token: newer })
  const choices = defaultChoiceStream('payment_methods', ownerOf(by))
  const chooseAgain = () => change({ by, token: older }, { is_default: true })
  // The second read looks up what has to be cleared.
  await change({ by, token: newer, on: interleaved(workflow, choices, chooseAgain, 2) }, { is_default: true })
  t.same(await defaultsOf(by, tokens), [older])
  t.match(await stateOf(newer), { is_default: false })
})

t.test('random requests and crashes leave the last requested default, or none', async (t) => {
  for (let seed = 1; seed <= 4; seed++) {
    const random = seededRandom(seed)
    const by: Caller = seed % 2 === 0 ? newUser() : newGuest()
    const tokens = Array.from({ length: 4 }, newToken)
    const isThere = new Set<string>()
    const story: string[] = []
    let shown: string[] = []
    for (let step = 0; step < 40; step++) {
      const token = tokens[random(tokens.length)] ?? ''
      const appends = random(3) === 0 ? random(3) : 99
      const on = crashAfter(appends, workflow)
      const left = shown.filter((each) => each !== token)
      const [what, then, act] = isThere.has(token)
        ? ((
            [
              ['made default', [token], () => change({ by, token, on }, { is_default: true })],
              ['none any more', left, () => change({ by, token, on }, { is_default: false })],
              ['removed', left, () => remove({ by, token, on })],
              ['saved again as default', [token], () => save({ by, token, on }, { is_default: true })],
            ] as const
          )[random(4)] ?? [])
        : ((
            [
              ['added', shown, () => save({ by, token, on })],
              ['added as default', [token], () => save({ by, token, on }, { is_default: true })],
            ] as const
          )[random(2)] ?? [])
      if (!what || !then || !act) throw new Error('no action was drawn')
      const died = await crashes(act())
      story.push(`${tokens.indexOf(token)} ${what}${died ? `, died after ${appends}` : ''}`)
      const now = await defaultsOf(by, tokens)
      const asBefore = JSON.stringify(now) === JSON.stringify(shown)
      if (!(died && asBefore)) t.same(now, then, `seed ${seed}: ${story.slice(-8).join('; ')}`)
      shown = now
      for (const each of tokens) {
        const state = await stateOf(each).catch(() => undefined)
        if (state?.status === 'saved') isThere.add(each)
        else isThere.delete(each)
      }
    }
  }
})
