// Creates, reads, changes and deletes a resource as its owner, while every other caller gets 404.
import type { Test } from 'tap'
import { addressBody, methodBody, pathOf } from './accessFixture.ts'
import { after, type Client, dataOf, listOf } from './accessHarness.ts'
import { seesIdAlone } from './model.ts'
import { ada, admin, type Caller, g1, g2, grace } from './people.ts'

const otherOwners = [ada, grace, admin, g1, g2]

/** @param changer has other credentials of the same owner */
export async function checkLifecycle(
  { send }: Client,
  t: Test,
  kind: 'method' | 'address',
  maker: Caller,
  changer = maker,
): Promise<void> {
  const { owner } = maker
  if (owner === null) throw new Error('an anonymous caller owns nothing')
  const path = pathOf[kind]
  const body = kind === 'method' ? methodBody(owner, 'pm_card_amex') : addressBody(owner)
  const title = `${changer.name}: ${kind}`
  const added = await send(maker, 'POST', path, { body })
  t.equal(added.status, 201, `${title}: POST: ${added.text}`)
  const { id } = dataOf(added)
  const one = `${path}/${id}`
  t.match(added.headers, { etag: /^"\d+"$/, 'x-event-position': /^\d+$/ })
  for (const caller of otherOwners.filter((caller) => caller.owner !== owner)) {
    t.equal((await send(caller, 'GET', one, after(added))).status, 404, `${title}: GET by ${caller.name}`)
    t.equal((await send(caller, 'PUT', one, { body: { alias: 'x' } })).status, 404, `${title}: PUT by ${caller.name}`)
    t.equal((await send(caller, 'DELETE', one)).status, 404, `${title}: DELETE by ${caller.name}`)
  }
  const changed = await send(changer, 'PUT', one, {
    body: { alias: 'changed' },
    headers: { 'if-match': added.headers.etag ?? '' },
  })
  t.equal(changed.status, 200, `${title}: PUT: ${changed.text}`)
  const read = await send(maker, 'GET', one, after(changed))
  t.match(read, { status: 200, json: { data: { alias: 'changed' } }, headers: { etag: changed.headers.etag } }, title)
  t.same(changed.json.data, seesIdAlone(changer, 'PUT') ? { id } : read.json.data, `${title}: response to PUT`)
  const stale = { headers: { 'if-match': added.headers.etag ?? '' } }
  t.equal((await send(changer, 'DELETE', one, stale)).status, 412, `${title}: DELETE with a stale ETag`)
  const removed = await send(changer, 'DELETE', one)
  t.same([removed.status, removed.json], [200, { success: true, data: { id, deleted: true } }], title)
  const gone = after(removed)
  t.equal((await send(maker, 'GET', one, gone)).status, 404, `${title}: GET after DELETE`)
  t.equal((await send(maker, 'PUT', one, { body: { alias: 'x' } })).status, 404, `${title}: PUT after DELETE`)
  t.notOk(
    listOf(await send(maker, 'GET', path, gone)).some((listed) => listed.id === id),
    `${title}: not in the list`,
  )
}
