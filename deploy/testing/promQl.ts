// Parses the parts of PromQL that the rules and the dashboard use.

export type Matcher = { readonly label: string; readonly operator: string; readonly value: string }
export type Selector = { readonly metric: string; readonly matchers: readonly Matcher[] }
export type Sample = { readonly metric: string; readonly labels: Readonly<Record<string, string>> }

/** The selectors of an expression, and its grouping labels. */
export function readExpression(expression: string): {
  readonly selectors: readonly Selector[]
  readonly groupedBy: readonly string[]
} {
  const groupedBy: string[] = []
  const rest = expression.replaceAll(/\b(?:by|on)\s*\(([^)]*)\)/g, (_, labels: string) => {
    groupedBy.push(...labels.split(',').map((label) => label.trim()))
    return ''
  })
  const selectors: Selector[] = []
  for (const { groups = {} } of rest.replaceAll(/\[[\w$:]+\]/g, '').matchAll(term)) {
    const { metric, matchers = '', call } = groups
    if (metric === undefined || call !== undefined || operators.has(metric)) continue
    selectors.push({ metric, matchers: [...matchers.matchAll(matcher)].map(readMatcher) })
  }
  return { selectors, groupedBy }
}

/** A string outside of a selector, or a name with its matchers, or a function call. */
const term = /"[^"]*"|(?<metric>[a-zA-Z_:][\w:]*)(?:\{(?<matchers>[^}]*)\}|(?<call>\s*\())?/g
const matcher = /(?<label>\w+)\s*(?<operator>=~|!~|!=|=)\s*"(?<value>[^"]*)"/g
const operators = new Set(['and', 'or', 'unless'])

function readMatcher({ groups = {} }: RegExpMatchArray): Matcher {
  const { label = '', operator = '', value = '' } = groups
  return { label, operator, value }
}

/** The samples that match a selector. Dashboard variables (`$api`) match everything. */
export function select({ metric, matchers }: Selector, samples: readonly Sample[]): readonly Sample[] {
  return samples.filter((sample) => sample.metric === metric && matchers.every((matcher) => fits(matcher, sample)))
}

function fits({ label, operator, value }: Matcher, { labels }: Sample): boolean {
  const found = labels[label]
  if (found === undefined) return false
  const pattern = value.startsWith('$') ? '.*' : value
  const isLike = operator.endsWith('~') ? new RegExp(`^(?:${pattern})$`).test(found) : found === value
  return operator.startsWith('!') ? !isLike : isLike
}

/** Parses samples in the text format of Prometheus. */
export function readMetrics(page: string, target: Readonly<Record<'job' | 'instance', string>>): readonly Sample[] {
  return page.split('\n').flatMap((line) => {
    const { metric, labels = '' } = /^(?<metric>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? /.exec(line)?.groups ?? {}
    if (metric === undefined) return []
    const own = [...labels.matchAll(matcher)].map(readMatcher).map(({ label, value }) => [label, value])
    return [{ metric, labels: { ...Object.fromEntries(own), ...target } }]
  })
}
