// Ports of tests: no two files that run at the same time are given the same one.
import t from 'tap'
import { freePort, portsOfJob } from './processes.ts'

t.test('a file is given ports of its own place among those that run side by side', async (t) => {
  const { first, last } = portsOfJob(process.env.TAP_JOB_ID)
  const given = await Promise.all(Array.from({ length: 20 }, freePort))
  t.equal(new Set(given).size, 20)
  t.ok(given.every((port) => port >= first && port <= last))
})

t.test('places never share a port, nor do they with whoever runs the files', async (t) => {
  const ranges = ['0', '1', '2', '3', '4', undefined].map(portsOfJob).sort((a, b) => a.first - b.first)
  for (const [n, { first }] of ranges.entries()) t.ok(n === 0 || first > (ranges[n - 1]?.last ?? Number.NaN))
  t.throws(() => portsOfJob('6'), RangeError)
  t.throws(() => portsOfJob('5'), RangeError)
})

t.test('the runner tells each file its place', async (t) => {
  t.match(process.env.TAP_JOB_ID, /^[0-4]$/)
})
