import { Writable } from 'node:stream'
import t from 'tap'
import { createLog } from './log.ts'

function lines(level?: string) {
  const written: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      done()
    },
  })
  return { written, log: createLog({ app: 'test', ...(level && { level }) }, destination) }
}

t.test('removes secrets wherever they may turn up', async (t) => {
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

t.test('writes JSON with the app, the level by name and the time', async (t) => {
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
