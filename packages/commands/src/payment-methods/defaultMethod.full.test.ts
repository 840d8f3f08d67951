// The default among saved methods, under removal, re-adding and crashes.
import t from 'tap'
import { type Caller, newGuest, newUser, savedMethodHarness } from '../testing/savedMethodHarness.ts'
import { crashAfter, crashes, seededRandom } from '../testing/workflowHarness.ts'

const { workflow, newToken, save, change, remove, stateOf, defaultOf } = await savedMethodHarness(t)

t.test('a removed default that is added again is not the default', async (t) => {
  for (const by of [newUser(), newGuest()]) {
    const tokens = [newToken(), newToken()]
    const [older = '', newer = ''] = tokens
    for (const token of tokens) await save({ by, token }, { is_default: true })
    await remove({ by, token: newer })
    t.equal(await defaultOf(by, tokens), undefined)
    t.match(await save({ by, token: newer }), { created: true, is_default: false })
    t.equal(await defaultOf(by, tokens), undefined)
    t.match(await change({ by, token: older }, { is_default: true }), { is_default: true })
    t.equal(await defaultOf(by, tokens), older)
  }
})

t.test(
  'a removed default that another owner adds is the default of neither, unless the request asks for it',
  async (t) => {
    for (const is_default of [false, true]) {
      const [by, other] = [newGuest(), newUser()]
      const token = newToken()
      await save({ by, token }, { is_default: true })
      await remove({ by, token })
      t.match(await save({ by: other, token }, { is_default }), { created: true, is_default })
      t.equal(await defaultOf(other, [token]), is_default ? token : undefined)
      await remove({ by: other, token })
      const again = await save({ by: other, token })
      t.match(again, { created: true, is_default: false })
      t.equal(await defaultOf(other, [token]), undefined)
    }
  },
)

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
      const { state, is_default } = await change({ by, token: newer }, { is_default: true, alias: 'Chosen' })
      t.match({ ...state, is_default }, { is_default: true, alias: 'Chosen' }, `after ${appends} appends`)
      t.equal(await defaultOf(by, tokens), newer)
    }
    t.ok(appends > 2, 'there are at least three crash points')
  }
})

t.test('random requests and crashes leave the last requested default, or none', async (t) => {
  for (let seed = 1; seed <= 4; seed++) {
    const random = seededRandom(seed)
    const by: Caller = seed % 2 === 0 ? newUser() : newGuest()
    const tokens = Array.from({ length: 4 }, newToken)
    const isThere = new Set<string>()
    const story: string[] = []
    let shown: string | undefined
    for (let step = 0; step < 40; step++) {
      const token = tokens[random(tokens.length)] ?? ''
      const appends = random(3) === 0 ? random(3) : 99
      const on = crashAfter(appends, workflow)
      const left = shown === token ? undefined : shown
      const [what, then, act] = isThere.has(token)
        ? ((
            [
              ['made default', token, () => change({ by, token, on }, { is_default: true })],
              ['none any more', left, () => change({ by, token, on }, { is_default: false })],
              ['removed', left, () => remove({ by, token, on })],
              ['saved again as default', token, () => save({ by, token, on }, { is_default: true })],
            ] as const
          )[random(4)] ?? [])
        : ((
            [
              ['added', shown, () => save({ by, token, on })],
              ['added as default', token, () => save({ by, token, on }, { is_default: true })],
            ] as const
          )[random(2)] ?? [])
      if (!what || !act) throw new Error('no action was drawn')
      const died = await crashes(act())
      story.push(`${tokens.indexOf(token)} ${what}${died ? `, died after ${appends}` : ''}`)
      const now = await defaultOf(by, tokens)
      if (!(died && now === shown)) t.equal(now, then, `seed ${seed}: ${story.slice(-8).join('; ')}`)
      shown = now
      for (const each of tokens) {
        const state = await stateOf(each).catch(() => undefined)
        if (state?.status === 'saved') isThere.add(each)
        else isThere.delete(each)
      }
    }
  }
})
