import { ConfigError } from '@paylog/runtime/config'
import t from 'tap'
import { Type } from 'typebox'
import { commandVariables, loadWithNodes } from './config.ts'

const Variables = Type.Object(commandVariables)
const required = { EVENTSTORE_URL: 'esdb://127.0.0.1:2113', AUTH_URL: 'http://127.0.0.1:8081' }
const node = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://receiver.example.com/hook' }

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadWithNodes(Variables, env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

t.test('the webhook nodes are those of the same environment', async (t) => {
  t.same(loadWithNodes(Variables, required).nodes, [])
  const { nodes, AUTH_SERVICE } = loadWithNodes(Variables, { ...required, ...node })
  t.match(nodes, [{ name: '1', url: node.WEBHOOK_1_URL, mode: 'canonical' }])
  t.equal(nodes.length, 1)
  t.equal(AUTH_SERVICE, 'payments')
})

t.test('one message names every bad variable, those of the nodes included', async (t) => {
  const bad = { ...node, AUTH_URL: 'nowhere', WEBHOOK_1_URL: 'nowhere', WEBHOOK_1_EVENT_MODE: 'some' }
  const names = problemsOf({ ...required, ...bad }).map((problem) => problem.split(' ', 1)[0])
  t.same(names.toSorted(), ['AUTH_URL', 'WEBHOOK_1_EVENT_MODE', 'WEBHOOK_1_URL'])
  t.notMatch(problemsOf({ ...required, ...bad }).join(), 'nowhere')
})
