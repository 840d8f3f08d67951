// Loaded into the processes of a campaign: lets it set their clocks while they run. Monotonic time is not touched, as when an
// operator or NTP sets the clock of a machine.
let offsetMs = Number(process.env.CAMPAIGN_CLOCK_OFFSET_MS ?? 0)

process.on('message', (message: { readonly type?: unknown; readonly offsetMs?: unknown }) => {
  if (message.type === 'campaign clock') offsetMs = Number(message.offsetMs)
})
// Listening must not keep a process alive that has nothing else to do.
process.channel?.unref()

const RealDate = Date
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + offsetMs] : args, newTarget),
  apply: () => new Date().toString(),
  get: (target, name, receiver) =>
    name === 'now' ? () => RealDate.now() + offsetMs : Reflect.get(target, name, receiver),
})
