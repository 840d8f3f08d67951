import { createHmac } from 'node:crypto'
import t from 'tap'
import { guestOwner, hiddenOwner, userOwner } from './actor.ts'

t.test('hiddenOwner hides the e-mail of a guest, and leaves the id of a user', async (t) => {
  const hash = (text: string) => createHmac('sha256', 'secret').update(text).digest('hex')
  const guest = hiddenOwner(guestOwner('Ada@example.com'), hash)
  t.match(guest, /^[0-9a-f]{64}$/)
  t.equal(hiddenOwner(guestOwner('ada@EXAMPLE.com'), hash), guest)
  t.not(hiddenOwner(guestOwner('grace@example.com'), hash), guest)
  t.equal(hiddenOwner(userOwner('u1'), hash), 'user:u1')
})
