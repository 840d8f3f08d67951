import t from 'tap'
import { createSessionStore, sessionInFragment } from './sessionStore.ts'

function memoryStorage(initial: Readonly<Record<string, string>> = {}) {
  const values = new Map(Object.entries(initial))
  return {
    values,
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  }
}

t.test('sessionInFragment finds the session of a link, and nothing in other fragments', async (t) => {
  t.equal(sessionInFragment('#session=demo-admin-session'), 'demo-admin-session')
  t.equal(sessionInFragment('#session=a%2Fb%3D'), 'a/b=')
  t.equal(sessionInFragment('#session=%20padded%20'), 'padded')
  for (const other of ['', '#', '#main', '#session=', '#xsession=a', '#session=%20']) {
    t.equal(sessionInFragment(other), null, other)
  }
})

t.test('a session survives a reload of the tab until it is signed out', async (t) => {
  const storage = memoryStorage()
  createSessionStore(storage).signIn('s-1')
  const reloaded = createSessionStore(storage)
  t.same(reloaded.current(), { sessionId: 's-1', isExpired: false, offered: null })
  reloaded.signOut()
  t.same(reloaded.current(), { sessionId: null, isExpired: false, offered: null })
  t.equal(storage.values.size, 0)
})

t.test('an expired session stays known until another one is signed in', async (t) => {
  const store = createSessionStore(memoryStorage())
  store.signIn('s-1')
  const seen: boolean[] = []
  const stop = store.subscribe(() => seen.push(store.current().isExpired))
  store.markExpired()
  store.markExpired()
  t.match(store.current(), { sessionId: 's-1', isExpired: true })
  store.signIn('s-2')
  t.same(seen, [true, false], 'one notice for each change')
  stop()
  store.markExpired()
  t.equal(seen.length, 2)
})

t.test('an offered session replaces the present one only when it is signed in', async (t) => {
  const storage = memoryStorage()
  const store = createSessionStore(storage)
  store.signIn('s-1')
  store.offer('s-1')
  t.equal(store.current().offered, null, 'the present session is no other one')
  store.offer('s-2')
  t.match(store.current(), { sessionId: 's-1', offered: 's-2' })
  t.match(createSessionStore(storage).current(), { sessionId: 's-1', offered: 's-2' }, 'also after a reload')
  store.refuseOffer()
  t.match(createSessionStore(storage).current(), { sessionId: 's-1', offered: null })
  store.offer('s-2')
  store.signIn('s-2')
  t.match(store.current(), { sessionId: 's-2', offered: null })
})
