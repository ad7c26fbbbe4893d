/** Things that come in, and those who wait for one that fits. */
export class Waiting<A> {
  readonly all: Array<A> = []
  private readonly waiters = new Set<(over: boolean) => void>()
  private over = false

  push(item: A): void {
    this.all.push(item)
    for (const waiter of Array.from(this.waiters)) waiter(false)
  }

  /** Nothing more comes. */
  end(): void {
    this.over = true
    for (const waiter of Array.from(this.waiters)) waiter(true)
  }

  /** The first that fits, come or to come; fails after `millis`, or at the end. */
  find<B>(fits: (item: A) => B | undefined, millis = 10_000): Promise<B> {
    return new Promise((resolve, reject) => {
      let next = 0
      const look = (over: boolean): void => {
        for (; next < this.all.length; next++) {
          const item = this.all[next]
          const found = item === undefined ? undefined : fits(item)
          if (found === undefined) continue
          done()
          return resolve(found)
        }
        if (!over) return
        done()
        reject(new Error("it ended before that came"))
      }
      const timer = setTimeout(() => {
        done()
        reject(new Error(`nothing like that came within ${millis} ms`))
      }, millis)
      const done = (): void => {
        clearTimeout(timer)
        this.waiters.delete(look)
      }
      this.waiters.add(look)
      look(this.over)
    })
  }
}
