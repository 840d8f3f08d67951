import t from 'tap'
import { isNewChoice } from './events.ts'

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
