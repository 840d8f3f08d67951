// Ports of tests: files that run in parallel never get the same port.
import t from 'tap'
import { freePort, portsOfJob } from './processes.ts'

t.test('freePort returns different ports of the file’s own range', async (t) => {
  const { first, last } = portsOfJob(process.env.TAP_JOB_ID)
  const ports = await Promise.all(Array.from({ length: 20 }, freePort))
  t.equal(new Set(ports).size, 20)
  t.ok(ports.every((port) => port >= first && port <= last))
})

t.test('the port ranges of parallel test files and of the test runner do not overlap', async (t) => {
  const ranges = ['0', '1', '2', '3', '4', undefined].map(portsOfJob).sort((a, b) => a.first - b.first)
  for (const [n, { first }] of ranges.entries()) t.ok(n === 0 || first > (ranges[n - 1]?.last ?? Number.NaN))
  t.throws(() => portsOfJob('6'), RangeError)
  t.throws(() => portsOfJob('5'), RangeError)
})

t.test('the test runner sets TAP_JOB_ID from 0 to 4', async (t) => {
  t.match(process.env.TAP_JOB_ID, /^[0-4]$/)
})
