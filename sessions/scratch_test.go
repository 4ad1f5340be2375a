package sessions
import ("testing";"fmt";"os";"time";"reflect";"strings";"runtime"
"github.com/toolgauge/toolgauge/corpus")
func TestScratchFlip(t *testing.T){
 c,_:=corpus.Embedded()
 d,err:=NewDrawer(c,Options{Seed:1}); if err!=nil{t.Fatal(err)}
 dir:=t.TempDir()
 p:=dir+"/a.parquet"
 WriteFile(p,d.Sessions(Range{0,6}))
 want,_:=ReadFile(p)
 good,_:=os.ReadFile(p)
 fmt.Println(len(good))
 kinds:=map[string]int{}
 silent:=0
 st:=time.Now()
 var slow time.Duration
 var ms runtime.MemStats
 var maxsys uint64
 for i:=range good { for b:=0;b<8;b++ {
   bad:=append([]byte{},good...); bad[i]^=1<<b
   os.WriteFile(p,bad,0o666)
   s0:=time.Now()
   got,err:=ReadFile(p)
   if e:=time.Since(s0); e>slow {slow=e; fmt.Println("slow",i,b,e,err)}
   if err==nil { if !reflect.DeepEqual(got,want){ silent++; if silent<40 {fmt.Println("SILENT",i,b)} } else {kinds["same"]++}; continue}
   if !strings.HasPrefix(err.Error(),p){ fmt.Println("NAME",err)}
   m:=strings.Split(strings.TrimPrefix(err.Error(),p),"\nhint")[0]; if len(m)>70{m=m[:70]}
   kinds[m]++
   if i%500==0&&b==0 { runtime.ReadMemStats(&ms); if ms.Sys>maxsys {maxsys=ms.Sys; fmt.Println("sys MB",maxsys>>20)}}
 }}
 fmt.Println(time.Since(st), "silent",silent,"slow",slow, "total",ms.TotalAlloc>>20)
 n:=0
 for k,v:=range kinds{ n++; if v>150||strings.Contains(k,"runtime"){fmt.Println(v,k)}}
}
