type TestData = { readonly value?: Record<string, unknown>; readonly problem?: string }

/** The data of a test that somebody typed; no value when it is empty. */
export function parseTestData(text: string): TestData {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problem: 'It must be an object' }
    return { value: Object.fromEntries(Object.entries(value)) }
  } catch {
    return { problem: 'It is not JSON' }
  }
}
