import t from 'tap'
import {
  chooseDefault,
  type DefaultChoiceEvent,
  defaultChoiceFold,
  isNewChoice,
  previousDefaultsFold,
} from './defaultChoice.ts'

t.test(
  'an item is told of its first choice and of every later one, not of what it carries or of what comes late',
  async (t) => {
    t.ok(isNewChoice(0, { is_default: false, default_choice: null }))
    for (const is_default of [true, false]) {
      t.ok(isNewChoice(4, { is_default, default_choice: 3 }))
      t.notOk(isNewChoice(2, { is_default, default_choice: 3 }))
    }
    t.notOk(isNewChoice(3, { is_default: true, default_choice: 3 }))
    t.ok(isNewChoice(3, { is_default: false, default_choice: 3 }), 'it was cleared, and is chosen again')
  },
)

const occurred_at = '2026-01-01T00:00:00.000Z'

/** What is on record when these are chosen one after the other. */
function choices(...chosen: string[]): DefaultChoiceEvent[] {
  const events: DefaultChoiceEvent[] = []
  for (const chosen_id of chosen) {
    const latest = events.reduce(defaultChoiceFold.evolve, defaultChoiceFold.initialState)
    events.push(...chooseDefault({ list: 'payment_methods', chosen_id, occurred_at }, latest))
  }
  return events
}

const previousDefaults = (item: string, ...chosen: string[]) => {
  const fold = previousDefaultsFold(item)
  const { latest, previous_ids: former_ids } = choices(...chosen).reduce(fold.evolve, fold.initialState)
  return { latest: latest && `${latest.chosen_id}${latest.choice}`, former_ids }
}

t.test('choices are numbered from 0 in their order, and what is chosen already keeps its number', async (t) => {
  t.same(
    choices('a', 'b', 'b', 'a').map(({ data }) => `${data.chosen_id}${data.choice}`),
    ['a0', 'b1', 'a2'],
  )
})

t.test('before an item stand the eight that were chosen last before it, the latest first', async (t) => {
  t.same(previousDefaults('a'), { latest: null, former_ids: [] })
  t.same(previousDefaults('a', 'a'), { latest: 'a0', former_ids: [] })
  t.same(previousDefaults('b', 'a', 'b'), { latest: 'b1', former_ids: ['a'] })
  const many = previousDefaults('j', ...'abcdefghij')
  t.same(many, { latest: 'j9', former_ids: [...'ihgfedcb'] })
})

t.test('what was chosen after an item changes nothing before it', async (t) => {
  t.same(previousDefaults('b', 'a', 'b', 'c', 'd', 'e'), { latest: 'e4', former_ids: ['a'] })
  t.same(previousDefaults('x', 'a', 'b'), { latest: 'b1', former_ids: [] })
})

t.test('an item chosen again has the formers of its latest choice, and is never its own', async (t) => {
  t.same(previousDefaults('a', 'a', 'b', 'a'), { latest: 'a2', former_ids: ['b'] })
  t.same(previousDefaults('a', 'a', 'b', 'c', 'a'), { latest: 'a3', former_ids: ['c', 'b'] })
  t.same(previousDefaults('b', 'a', 'b', 'a', 'b', 'a', 'b'), { latest: 'b5', former_ids: ['a'] })
  t.same(previousDefaults('c', 'a', 'b', 'a', 'b', 'c'), { latest: 'c4', former_ids: ['b', 'a'] })
  t.same(previousDefaults('a', 'd', 'a', 'c', 'a'), { latest: 'a3', former_ids: ['c', 'd'] })
})
