import t from 'tap'
import { canonicalOnly, messagesByMode, received, tested } from '../testing/eventFixtures.ts'
import { messageErrors } from '../testing/messageErrors.ts'
import { canonicalNames } from './canonicalNames.ts'

t.test('the message of every canonical name matches its schema, and no more', async (t) => {
  for (const canonical_name of canonicalNames) {
    const [sent] = messagesByMode(tested({ ...canonicalOnly, canonical_name }))
    const message = JSON.parse(sent?.body ?? '{}')
    t.same(messageErrors('canonical', message), [], canonical_name)
    const { user: _user, ...data } = message.data
    t.not(messageErrors('canonical', { ...message, data }).length, 0, `${canonical_name} without user`)
    const more = { ...message, data: { ...message.data, more: 1 } }
    t.not(messageErrors('canonical', more).length, 0, `${canonical_name} with an undocumented field`)
  }
})

t.test('a raw message matches the schema of raw messages only', async (t) => {
  const [sent] = messagesByMode(received())
  const message = JSON.parse(sent?.body ?? '{}')
  t.same(messageErrors('raw', message), [])
  t.not(messageErrors('canonical', message).length, 0)
  t.not(messageErrors('legacy', message).length, 0)
})
