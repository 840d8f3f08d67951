import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '@paylog/runtime/config/environment'
import { testMasterKey } from '@paylog/testing/dataKeys'
import t from 'tap'
import { Type } from 'typebox'
import { commandVariables, loadCommandConfig } from './config.ts'

const Variables = Type.Object(commandVariables)
const required = {
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
  DATABASE_URL: 'postgres://127.0.0.1/none',
  PII_MASTER_KEY: testMasterKey,
  AUTH_URL: 'http://127.0.0.1:8081',
}
const endpointVariables = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://receiver.example.com/hook' }

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadCommandConfig(Variables, env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

t.test('webhook endpoints are decoded from the same environment', async (t) => {
  t.same(loadCommandConfig(Variables, required).endpoints, [])
  const { endpoints } = loadCommandConfig(Variables, { ...required, ...endpointVariables })
  t.match(endpoints, [{ name: '1', url: endpointVariables.WEBHOOK_1_URL, mode: 'canonical' }])
  t.equal(endpoints.length, 1)
})

t.test('AUTH_SERVICE is payments and ADMIN_USER_TYPES is admin by default [5-defaults]', async (t) => {
  const { AUTH_SERVICE, ADMIN_USER_TYPES } = loadCommandConfig(Variables, required)
  t.same([AUTH_SERVICE, ADMIN_USER_TYPES], ['payments', ['admin']])
})

t.test('WEBHOOK_TESTS_BY is session by default, and accepts only session and admin', async (t) => {
  const testsBy = (more: object) => loadCommandConfig(Variables, { ...required, ...more }).WEBHOOK_TESTS_BY
  t.equal(testsBy({}), 'session')
  t.equal(testsBy({ WEBHOOK_TESTS_BY: 'admin' }), 'admin')
  t.match(problemsOf({ ...required, WEBHOOK_TESTS_BY: 'nobody' }), [/^WEBHOOK_TESTS_BY must be one of session, admin/])
})

t.test('PAYMENT_EXPIRES_AFTER is a day by default, and RETURN_URL_ORIGINS is empty', async (t) => {
  const of = (more: object) => {
    const { PAYMENT_EXPIRES_AFTER, RETURN_URL_ORIGINS } = loadCommandConfig(Variables, { ...required, ...more })
    return [PAYMENT_EXPIRES_AFTER, RETURN_URL_ORIGINS]
  }
  t.same(of({}), [86_400_000, []])
  const origins = 'https://shop.example.com, http://localhost:3000/'
  t.same(of({ PAYMENT_EXPIRES_AFTER: '0', RETURN_URL_ORIGINS: origins }), [
    0,
    ['https://shop.example.com', 'http://localhost:3000/'],
  ])
  t.same(of({ PAYMENT_EXPIRES_AFTER: '30d' })[0], 30 * 86_400_000)
  t.match(problemsOf({ ...required, PAYMENT_EXPIRES_AFTER: 'soon', RETURN_URL_ORIGINS: 'https://example.com/path' }), [
    /^PAYMENT_EXPIRES_AFTER must be a duration/,
    /^RETURN_URL_ORIGINS must be origins such as/,
  ])
})

t.test('endpoint variables can be read from files, and a missing one is named beside the other problems', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-config-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const url = join(directory, 'url')
  writeFileSync(url, 'https://receiver.example.com/hook\n')
  const missing = join(directory, 'missing')
  // Only the worker signs, so this process may lack read access to the secret.
  const env = { ...required, WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL_FILE: url, WEBHOOK_1_SECRET_FILE: missing }
  const { endpoints } = loadCommandConfig(Variables, env)
  t.match(endpoints, [{ url: 'https://receiver.example.com/hook', secrets: [] }])
  t.same(problemsOf({ ...env, WEBHOOK_1_URL_FILE: missing, STRIPE_WEBHOOK_SECRET_FILE: missing }), [
    'WEBHOOK_1_URL_FILE names a file that does not exist',
    'STRIPE_WEBHOOK_SECRET_FILE names a file that does not exist',
  ])
})
