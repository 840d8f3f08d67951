import { closeSync, openSync, readFileSync } from 'node:fs'
import t from 'tap'
import { createHttp } from '../http/http.ts'
import { createLog, lineOutput, withoutRedaction } from './log.ts'

function lines(level?: string) {
  const written: string[] = []
  return {
    written,
    log: createLog({ app: 'test', ...(level && { level }) }, { write: (line) => void written.push(line) }),
  }
}

t.test('a log redacts secrets at every supported depth', async (t) => {
  const { written, log } = lines()
  const secret = 'hush'
  log.info({ headers: { authorization: secret, cookie: secret, 'x-session-id': secret, 'x-guest-token': secret } }, 'a')
  log.info({ request: { headers: { authorization: secret, 'x-guest-token': secret } } }, 'b')
  log.info({ client_secret: secret, payment: { client_secret: secret, guest_data: { email: secret } } }, 'c')
  log.info({ session_id: secret, token: secret, a: { b: { token: secret } } }, 'd')
  log.child({ guest_token: secret }).info('e')
  t.equal(written.length, 5)
  t.notMatch(written.join(''), secret)
  t.match(written.join(''), '[redacted]')
})

t.test('withoutRedaction writes the same lines and does not change the original log', async (t) => {
  const { written, log } = lines('warn')
  const bare = withoutRedaction(log)
  bare.info('not written')
  bare.warn({ token: 'plain', nested: { email: 'plain' } }, 'a')
  log.warn({ token: 'hush', nested: { email: 'hush' } }, 'b')
  log.child({ requestId: 'r' }).warn({ token: 'hush' }, 'c')
  t.equal(written.length, 3)
  t.match(JSON.parse(written[0] ?? ''), { app: 'test', level: 'warn', token: 'plain', nested: { email: 'plain' } })
  t.notMatch(written.join(''), 'hush')
})

t.test('a logged error has its type, message, stack and code, but none of its data', async (t) => {
  const { written, log } = lines()
  const cause = Object.assign(new Error('the cause'), { detail: 'hush' })
  const error = new Error('rejected', { cause })
  log.error({ err: Object.assign(error, { code: '23514', table: 'addresses_v1', detail: 'hush', where: 'hush' }) }, 'a')
  log.error(Object.assign(new TypeError('bare'), { row: { alias: 'hush' } }))
  t.notMatch(written.join(''), 'hush')
  const [first, second] = written.map((line) => JSON.parse(line).err)
  t.same(Object.keys(first).toSorted(), ['code', 'message', 'stack', 'table', 'type'])
  t.match(first, { type: 'Error', message: 'rejected: the cause', code: '23514', table: 'addresses_v1' })
  t.match(first.stack, /log\.test\.ts[\s\S]*caused by: Error: the cause/)
  t.match(second, { type: 'TypeError', message: 'bare' })
})

t.test('URLs in a logged error are cut to scheme, host and port', async (t) => {
  const { written, log } = lines()
  const messages = [
    'postgres://user:hush@db.example.com:5432/paylog is away',
    'esdb://user:hush/h@sh@node.example.com:2113?tls=false',
    'cannot reach "https://hooks.example.com/services/hush?token=hush#hush"',
    '(https://hooks.example.com/hush)',
    'redis://:hush@redis.example.com, redis://:hush@redis.example.com',
  ]
  for (const message of messages) log.error(new Error(message))
  t.notMatch(written.join(''), 'hush')
  const logged = written.map((line) => JSON.parse(line).err.message)
  t.same(logged, [
    'postgres://db.example.com:5432 is away',
    'esdb://node.example.com:2113',
    'cannot reach "https://hooks.example.com"',
    '(https://hooks.example.com)',
    'redis://redis.example.com, redis://redis.example.com',
  ])
  const { stack } = JSON.parse(written[0] ?? '').err
  t.match(stack, /file:\/\/.*log\.test\.ts:\d+:\d+|log\.test\.ts:\d+:\d+/, 'the stack has the source location')
})

t.test('a log line is JSON with the app, the level name and the time', async (t) => {
  const { written, log } = lines('warn')
  log.info('not written')
  log.warn({ paymentId: 'p' }, 'written')
  t.equal(written.length, 1)
  t.match(JSON.parse(written.join('')), {
    app: 'test',
    level: 'warn',
    paymentId: 'p',
    msg: 'written',
    time: /^\d{4}-.*Z$/,
  })
})

t.test('requests are served while log lines cannot be written', async (t) => {
  const full = Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' })
  const destination = {
    write() {
      throw full
    },
  }
  const http = createHttp({ log: createLog({ app: 'test' }, destination) })
  t.teardown(() => http.close())
  http.get('/fine', async ({ log }) => {
    log.info('working')
    return { fine: true }
  })
  http.get('/broken', async () => {
    throw new Error('broken')
  })
  const fine = await http.inject('/fine')
  t.same([fine.statusCode, fine.json()], [200, { fine: true }])
  const broken = await http.inject('/broken')
  t.equal(broken.statusCode, 500)
  t.match(broken.json(), { success: false, error: { code: 'internal_error', request_id: String } })
})

t.test('lines are written again when the disk has space, with the number of failed writes', (t) => {
  const full = openSync('/dev/full', 'w')
  const log = createLog({ app: 'test' }, lineOutput(full))
  for (const line of ['first', 'second']) log.info(line)
  closeSync(full)
  const file = `${t.testdir({})}/log`
  t.equal(openSync(file, 'w'), full, 'the same descriptor')
  log.info('third')
  closeSync(full)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const found = lines.map((line) => JSON.parse(line)).map(({ msg, failed_writes }) => failed_writes ?? msg)
  t.same(found, ['first', 'second', 'third', 2])
  t.end()
})
