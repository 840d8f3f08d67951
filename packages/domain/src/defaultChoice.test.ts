import t from 'tap'
import {
  chooseDefault,
  type DefaultChoiceEvent,
  defaultChoiceFold,
  isNewChoice,
  previousDefaultsFold,
} from './defaultChoice.ts'

t.test('a choice is new for an item if it is the first, a later one, or the same after a clear', async (t) => {
  t.ok(isNewChoice(0, { is_default: false, default_choice: null }))
  for (const is_default of [true, false]) {
    t.ok(isNewChoice(4, { is_default, default_choice: 3 }))
    t.notOk(isNewChoice(2, { is_default, default_choice: 3 }))
  }
  t.notOk(isNewChoice(3, { is_default: true, default_choice: 3 }))
  t.ok(isNewChoice(3, { is_default: false, default_choice: 3 }), 'chosen again after it was cleared')
})

const occurred_at = '2026-01-01T00:00:00.000Z'

/** The events after choosing these one after the other. */
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
  const { latest, previous_ids } = choices(...chosen).reduce(fold.evolve, fold.initialState)
  return { latest: latest && `${latest.chosen_id}${latest.choice}`, previous_ids }
}

t.test('choices are numbered from 0, and choosing the current default again records nothing', async (t) => {
  t.same(
    choices('a', 'b', 'b', 'a').map(({ data }) => `${data.chosen_id}${data.choice}`),
    ['a0', 'b1', 'a2'],
  )
})

t.test('the previous defaults of an item are the last eight chosen before it, latest first', async (t) => {
  t.same(previousDefaults('a'), { latest: null, previous_ids: [] })
  t.same(previousDefaults('a', 'a'), { latest: 'a0', previous_ids: [] })
  t.same(previousDefaults('b', 'a', 'b'), { latest: 'b1', previous_ids: ['a'] })
  const many = previousDefaults('j', ...'abcdefghij')
  t.same(many, { latest: 'j9', previous_ids: [...'ihgfedcb'] })
})

t.test('choices after an item do not change its previous defaults', async (t) => {
  t.same(previousDefaults('b', 'a', 'b', 'c', 'd', 'e'), { latest: 'e4', previous_ids: ['a'] })
  t.same(previousDefaults('x', 'a', 'b'), { latest: 'b1', previous_ids: [] })
})

t.test('an item chosen again has the previous defaults of its latest choice, without itself', async (t) => {
  t.same(previousDefaults('a', 'a', 'b', 'a'), { latest: 'a2', previous_ids: ['b'] })
  t.same(previousDefaults('a', 'a', 'b', 'c', 'a'), { latest: 'a3', previous_ids: ['c', 'b'] })
  t.same(previousDefaults('b', 'a', 'b', 'a', 'b', 'a', 'b'), { latest: 'b5', previous_ids: ['a'] })
  t.same(previousDefaults('c', 'a', 'b', 'a', 'b', 'c'), { latest: 'c4', previous_ids: ['b', 'a'] })
  t.same(previousDefaults('a', 'd', 'a', 'c', 'a'), { latest: 'a3', previous_ids: ['c', 'd'] })
})
