import type { Actor } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { allRights, noRights } from '@paylog/domain/rights'
import Fastify from 'fastify'
import t from 'tap'
import { type ActorOf, createCallers, knownActor, notOwned, requireRight } from './callers.ts'
import { type ActionTarget, audited, guardRoutes } from './guardRoutes.ts'

const session: Actor = {
  kind: 'session',
  user_id: 'u1',
  user_type: 'user',
  user_email: 'u@example.com',
  ...noRights,
}
const actors: Record<string, Actor> = {
  anonymous: { kind: 'anonymous' },
  guest: { kind: 'guest', guest_email: 'g@example.com', token_hash: 'h' },
  session,
  administrator: { ...session, user_type: 'admin', ...allRights },
  auditor: { ...session, rights: ['read', 'export'] },
  refunder: { ...session, rights: ['refund'] },
  operator: { kind: 'operator' },
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
      .send(error instanceof DomainError ? { code: error.code, details: error.details } : {}),
  )
  guardRoutes(app, callers)
  const kinds = ['anyone', 'sessionOrGuest', 'sessionOrRememberedGuest', 'session'] as const
  for (const callers of kinds) app.get(`/${callers}`, { config: { callers } }, async (request) => request.actor)
  for (const right of ['read', 'export', 'refund'] as const)
    app.get(`/${right}`, { config: { right } }, async (request) => request.actor)
  app.get('/any', { config: { right: ['export', 'charge'] } }, async (request) => request.actor)
  return app
}

t.test('each kind of route accepts its callers, responds 401 to anonymous ones and 403 to others', async (t) => {
  const withoutRight = { anonymous: 401, guest: 403, session: 403, remembered: 401, invalid: 401 }
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
    read: { ...withoutRight, administrator: 200, operator: 200, auditor: 200, refunder: 403 },
    export: { ...withoutRight, administrator: 200, operator: 200, auditor: 200, refunder: 403 },
    refund: { ...withoutRight, administrator: 200, operator: 200, auditor: 403, refunder: 200 },
    any: { ...withoutRight, administrator: 200, operator: 200, auditor: 200, refunder: 403 },
  }
  const server = app()
  for (const [hook, statuses] of Object.entries(expected))
    for (const [caller, status] of Object.entries(statuses)) {
      const response = await server.inject({ url: `/${hook}`, headers: { 'x-caller': caller } })
      t.equal(response.statusCode, status, `${caller} at ${hook}`)
      if (status === 200) t.same(response.json(), caller === 'remembered' ? remembered : actors[caller])
    }
})

t.test('the 403 of a missing right names it, and requireRight has the same for a second right', async (t) => {
  const server = app()
  const detailsAt = async (url: string) => (await server.inject({ url, headers: { 'x-caller': 'refunder' } })).json()
  t.same(await detailsAt('/read'), { code: 'forbidden', details: { right: 'read' } })
  t.same(await detailsAt('/any'), { code: 'forbidden', details: { right: 'export or charge' } })
  const auditor: Actor = { ...session, rights: ['read', 'export'] }
  t.doesNotThrow(() => requireRight(auditor, 'export'))
  t.doesNotThrow(() => requireRight({ kind: 'operator' }, 'charge'))
  for (const actor of [auditor, session, { kind: 'anonymous' }] as const)
    t.throws(() => requireRight(actor, 'charge'), { status: 403, code: 'forbidden', details: { right: 'charge' } })
})

t.test('a resource of others is missing to customers; who has other rights learns which one is missing', async (t) => {
  const missing = new DomainError('not_found', 'No payment with this id')
  for (const actor of [session, { kind: 'guest', guest_email: 'g@example.com', token_hash: 'h' }] as const)
    t.equal(notOwned(actor, 'read', missing), missing)
  t.equal(notOwned({ ...session, ...allRights }, 'read', missing), missing)
  t.match(notOwned({ ...session, rights: ['export'] }, 'read', missing), {
    code: 'forbidden',
    details: { right: 'read' },
  })
})

t.test('without actorOrRemembered, an expired guest token is treated like any other', async (t) => {
  const guest: Actor = { kind: 'guest', guest_email: 'g@example.com', token_hash: 'h' }
  const server = Fastify()
  guardRoutes(
    server,
    createCallers(async () => guest),
  )
  server.get('/', { config: { callers: 'sessionOrRememberedGuest' } }, async ({ actor }) => actor)
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

const handler = async () => 'done'
const action = audited({}, 'cancel_job', () => ({ target: null }))

t.test('a route that does not say who may call it, or what is recorded of it, does not start', async (t) => {
  const scope = () => {
    const server = Fastify()
    guardRoutes(
      server,
      createCallers(async () => ({ kind: 'operator' })),
    )
    return server
  }
  const [url, right] = ['/jobs', 'operate'] as const
  const without = /^GET \/jobs must have either callers or a right in its config$/
  t.throws(() => scope().get(url, handler), without)
  t.throws(() => scope().get(url, { config: { right, callers: 'session' } }, handler), without)
  t.throws(
    () => scope().post(url, { config: { right } }, handler),
    /^POST \/jobs must say in its config what is audited$/,
  )
  t.throws(() => scope().post(url, { config: { right, audited: action } }, handler), /there is no audit trail$/)
  t.doesNotThrow(() => scope().post(url, { config: { right, audited: null } }, handler))
})

t.test(
  'an action is recorded before it is done, what is shown before it is answered, and how each ended',
  async (t) => {
    const steps: string[] = []
    const server = Fastify()
    guardRoutes(
      server,
      createCallers(async () => ({ kind: 'operator' })),
      async (_request, { action, target }) => {
        steps.push(`${action} ${target?.id}`)
        if (target?.id === 'unrecorded') throw new DomainError('event_store_unavailable', 'The trail is down')
        return async (outcome) => void steps.push(outcome)
      },
    )
    server.setErrorHandler<DomainError>(({ code, status }, request, reply) => {
      request.errorCode = code
      return reply.code(status).send()
    })
    const jobOf = ({ url }: { readonly url: string }): ActionTarget | undefined =>
      url === '/own' ? undefined : { target: { kind: 'job', id: url.slice(1) } }
    const config = { right: 'operate', audited: audited({}, 'cancel_job', jobOf) } as const
    for (const method of ['GET', 'POST'] as const)
      server.route({
        ...{ method, url: '/:id', config },
        async handler({ url }) {
          steps.push(`handled ${url.slice(1)}`)
          if (url === '/missing') throw new DomainError('not_found', 'No such job')
          if (url === '/unclear') throw new DomainError('provider_outcome_unknown', 'No response')
          if (url === '/again') throw new DomainError('idempotency_key_in_flight', 'Another request')
          return 'done'
        },
      })
    const send = async (method: 'GET' | 'POST', id: string) => {
      steps.length = 0
      const { statusCode } = await server.inject({ method, url: `/${id}` })
      return [statusCode < 400, ...steps]
    }
    t.same(await send('POST', '1'), [true, 'cancel_job 1', 'handled 1', 'done'])
    t.same(await send('POST', 'missing'), [false, 'cancel_job missing', 'handled missing', 'refused'])
    for (const open of ['unclear', 'again'])
      t.same(await send('POST', open), [false, `cancel_job ${open}`, `handled ${open}`], 'it may have been done')
    t.same(await send('POST', 'unrecorded'), [false, 'cancel_job unrecorded'])
    t.same(await send('POST', 'own'), [true, 'handled own'])
    t.same(await send('GET', '1'), [true, 'handled 1', 'cancel_job 1', 'done'])
    t.same(await send('GET', 'missing'), [false, 'handled missing'], 'nothing was shown')
    t.same(await send('GET', 'unrecorded'), [false, 'handled unrecorded', 'cancel_job unrecorded'])
  },
)
