import t from 'tap'
import { consoleTests } from './consoleHarness.ts'
import { lookAtPages } from './shownPages.ts'

const test = await consoleTests(t, { payments: 1000 })

test('each page in dark colours shows its part of the system', (t, harness) => lookAtPages(t, harness, 'dark'))
