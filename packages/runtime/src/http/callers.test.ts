import type { Actor } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import Fastify from 'fastify'
import t from 'tap'
import { type ActorOf, createCallers, knownActor } from './callers.ts'

const session: Actor = {
  kind: 'session',
  user_id: 'u1',
  user_type: 'user',
  user_email: 'u@example.com',
  is_administrator: false,
}
const actors: Record<string, Actor> = {
  anonymous: { kind: 'anonymous' },
  guest: { kind: 'guest', guest_email: 'g@example.com', token_hash: 'h' },
  session,
  administrator: { ...session, user_type: 'admin', is_administrator: true },
}

const remembered: Actor = { kind: 'guest', guest_email: 'r@example.com', token_hash: 'r' }

/** One route per hook; a header selects the caller. */
function app() {
  const finding = (known: Record<string, Actor>): ActorOf => {
    return async ({ headers, query }) => {
      const actor = known[String(headers['x-caller'] ?? Object(query).caller)]
      if (actor === undefined) throw new DomainError('unauthenticated', 'not valid')
      return actor
    }
  }
  const callers = createCallers(finding(actors), finding({ ...actors, remembered }))
  const app = Fastify()
  app.setErrorHandler((error, _, reply) =>
    reply
      .code(error instanceof DomainError ? error.status : 500)
      .send({ code: error instanceof DomainError && error.code }),
  )
  for (const [name, onRequest] of Object.entries(callers))
    app.get(`/${name}`, { onRequest }, async (request) => request.actor)
  return app
}

t.test('each hook accepts its callers, responds 401 to anonymous ones and 403 to others', async (t) => {
  const expected = {
    anyone: { anonymous: 200, guest: 200, session: 200, administrator: 200, remembered: 401, invalid: 401 },
    sessionOrGuest: { anonymous: 401, guest: 200, session: 200, administrator: 200, remembered: 401, invalid: 401 },
    sessionOrRememberedGuest: {
      anonymous: 401,
      guest: 200,
      session: 200,
      administrator: 200,
      remembered: 200,
      invalid: 401,
    },
    session: { anonymous: 401, guest: 403, session: 200, administrator: 200, remembered: 401, invalid: 401 },
    administrator: { anonymous: 401, guest: 403, session: 403, administrator: 200, remembered: 401, invalid: 401 },
  }
  const server = app()
  for (const [hook, statuses] of Object.entries(expected))
    for (const [caller, status] of Object.entries(statuses)) {
      const response = await server.inject({ url: `/${hook}`, headers: { 'x-caller': caller } })
      t.equal(response.statusCode, status, `${caller} at ${hook}`)
      if (status === 200) t.same(response.json(), caller === 'remembered' ? remembered : actors[caller])
    }
})

t.test('without actorOrRemembered, an expired guest token is treated like any other', async (t) => {
  const guest: Actor = { kind: 'guest', guest_email: 'g@example.com', token_hash: 'h' }
  const { sessionOrRememberedGuest } = createCallers(async () => guest)
  const server = Fastify().get('/', { onRequest: sessionOrRememberedGuest }, async ({ actor }) => actor)
  t.same((await server.inject('/')).json(), guest)
})

t.test('hooks accept credentials from the query string', async (t) => {
  const response = await app().inject({ url: '/session?caller=session' })
  t.equal(response.statusCode, 200)
})

t.test('knownActor rejects an anonymous caller on a route without a hook', async (t) => {
  t.throws(() => knownActor({ kind: 'anonymous' }), { code: 'unauthenticated' })
  t.equal(knownActor(session), session)
  t.equal(knownActor(remembered), remembered)
})
