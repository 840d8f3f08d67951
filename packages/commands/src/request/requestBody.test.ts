import { createHttp } from '@paylog/runtime/http/http'
import { createLog } from '@paylog/runtime/telemetry/log'
import t from 'tap'
import { Type } from 'typebox'
import { createCardNumberCheck } from './requestBody.ts'

let searches = 0
/** A field that records when it is searched. */
const note = new Proxy(
  { any: '1' },
  {
    ownKeys(target) {
      searches += 1
      return Reflect.ownKeys(target)
    },
  },
)
const app = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
app.addHook('preValidation', async (request) => {
  request.body = { ...Object(request.body), note }
})
const reject = createCardNumberCheck(app)
const body = Type.Object({ text: Type.String({ maxLength: 3 }), note: Type.Unknown() })
app.post('/', { schema: { body } }, async (request) => {
  reject(request)
  reject(request)
  return {}
})
t.teardown(() => app.close())

t.beforeEach(() => {
  searches = 0
})

t.test('a body that validation rejects is not searched for card numbers [10.1-card-invalid]', async (t) => {
  t.equal((await app.inject({ method: 'POST', url: '/', payload: { text: 'long' } })).statusCode, 400)
  t.equal(searches, 0)
})

t.test('a valid body is searched once, even if its handler repeats the check', async (t) => {
  t.equal((await app.inject({ method: 'POST', url: '/', payload: { text: 'in' } })).statusCode, 200)
  t.equal(searches, 1)
})
