import { given } from '@paylog/testing/assertions'
import t from 'tap'
import { type DefaultChoiceEvent, defaultChoiceFold, setDefault } from './defaultChoice.ts'

const facts = { list_id: 'x', list: 'payment_methods', occurred_at: '2026-01-01T00:00:00.000Z' } as const
const chosen = (chosen_id: string): DefaultChoiceEvent => ({ type: 'DefaultChosen', data: { ...facts, chosen_id } })
const cleared: DefaultChoiceEvent = { type: 'DefaultCleared', data: facts }
const set = (chosen_id: string, is_default: boolean) => (current: string | null) =>
  setDefault({ ...facts, chosen_id, is_default }, current)

t.test('the item chosen last is the default', async (t) => {
  const state = given(t, defaultChoiceFold, [chosen('a')])
    .when(set('b', true))
    .then([chosen('b')])
  t.equal(state, 'b')
})

t.test('choosing the default again records nothing', async (t) => {
  given(t, defaultChoiceFold, [chosen('a')])
    .when(set('a', true))
    .then([])
})

t.test('clearing the default leaves none, and it can be chosen again', async (t) => {
  const state = given(t, defaultChoiceFold, [chosen('b'), chosen('a')])
    .when(set('a', false))
    .then([cleared])
  t.equal(state, null)
  given(t, defaultChoiceFold, [chosen('a'), cleared])
    .when(set('a', true))
    .then([chosen('a')])
})

t.test('clearing an item that is not the default records nothing', async (t) => {
  for (const history of [[], [chosen('b')], [chosen('a'), cleared]])
    given(t, defaultChoiceFold, history).when(set('a', false)).then([])
})
