// Interrupted copies, and a target that changes events.
import t from 'tap'
import { copyTestLog, fillLog, inDatabase, logContents, numberedEvent, startLogs } from '../testing/copyLogHarness.ts'

t.test('a copy survives a killed target without gaps or duplicates', async (t) => {
  const { source, target } = await startLogs(t)
  await fillLog(source, 60)
  const restarts: Promise<void>[] = []
  const result = await copyTestLog(source, target, ({ phase, events }) => {
    if (phase === 'copying' && (events === 30 || events === 80)) {
      restarts.push(target.store.kill().then(() => target.store.start()))
    }
  })
  await Promise.all(restarts)
  t.equal(restarts.length, 2)
  t.match(result, { events: 120, copied: 120, alreadyThere: 0 })
  t.same(await logContents(target), await logContents(source))
})

t.test('an interrupted copy is continued by the next one', async (t) => {
  const { source, target } = await startLogs(t)
  await fillLog(source, 20)
  const interruption = new Error('interrupted by the test')
  const interrupted = copyTestLog(source, target, ({ phase, events }) => {
    if (phase === 'copying' && events === 31) throw interruption
  })
  await t.rejects(interrupted, interruption)
  const there = (await logContents(target)).length
  t.ok(there > 20 && there < 40, `${there} events in the target`)
  const result = await copyTestLog(source, target)
  t.match(result, { alreadyThere: there, recordedSince: 0 })
  t.equal(result.copied + there, result.events)
  t.same(await logContents(target), await logContents(source))
})

t.test('verification detects a target that stores other data than it received', async (t) => {
  const { source, target } = await startLogs(t)
  await source.client.appendToStream('kept-1', [numberedEvent(0), numberedEvent(1)])
  await inDatabase(target, async (database) => {
    await database.query(`create function tamper() returns trigger language plpgsql as $$ begin
        if new.revision = 1 then new.data := convert_to('{"number":2}', 'UTF8'); end if;
        return new;
      end $$`)
    await database.query(
      'create trigger tamper before insert on event_store.events for each row execute function tamper()',
    )
  })
  await t.rejects(copyTestLog(source, target), {
    name: 'LogDifferenceError',
    message: /^The logs differ in data: the source has kept-1@1 .* the target kept-1@1/,
  })
})

t.test('events recorded in the source during a copy are counted, and copied the next time', async (t) => {
  const { source, target } = await startLogs(t)
  await fillLog(source, 5)
  let later: Promise<unknown> | undefined
  const result = await copyTestLog(source, target, ({ phase }) => {
    if (phase === 'copying')
      later ??= Promise.all([fillLog(source, 2), source.client.appendToStream('$system', numberedEvent(1))])
  })
  await later
  t.ok(result.recordedSince > 0, `${result.recordedSince} events since`)
  t.match(await copyTestLog(source, target), { events: 14, recordedSince: 0 })
})
