// Loaded into each server before its own code: reports over IPC what it still holds after garbage collection.
process.on('message', (message) => {
  if (Object(message).type !== 'memory') return
  // Twice, because finalizers of the first run free more.
  globalThis.gc?.()
  globalThis.gc?.()
  process.send?.({
    heapMiB: process.memoryUsage().heapUsed / 2 ** 20,
    handles: process.getActiveResourcesInfo().length,
  })
})
